// Keyboard operation: select a device, a shape and a format, move through chart and table, read explanations.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { chosenRow, plain, query } from './page.mjs';

const focused = (page) => page.evaluate(() => document.activeElement.id);

/** Presses Tab until the element has the focus, which must always be visible. */
async function tabTo(page, id) {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, 'none', `no visible focus on ${await focused(page)}`);
    if ((await focused(page)) === id) {
      return;
    }
  }
  assert.fail(`the tab key never reached ${id}`);
}

pageTest('the whole page works without a pointer', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await tabTo(page, 'device');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#device').getAttribute('aria-expanded'), 'true');
  await page.keyboard.type('tesla t4');
  await page.keyboard.press('Enter');
  assert.match(await query(page), /d=t4/);

  await tabTo(page, 'm');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('32');
  assert.match(await query(page), /m=32/);

  await tabTo(page, 'chart');
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await page.locator('.chart [role=status]').innerText()), /^FP16: .*ideal/);
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await page.locator('.chart [role=status]').innerText()), /^FP8 E4M3: /);
  await page.keyboard.press('Enter');
  assert.match(await query(page), /w=fp8_e4m3/);

  await page.keyboard.press('Tab');
  assert.match(await focused(page), /^cell-/);
  await page.keyboard.press('PageDown');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  assert.match(await chosenRow(page), /^GGUF Q4_K/);
  assert.match(await focused(page), /^cell-\d-0$/, 'choosing keeps the focus');

  await page.keyboard.press('ArrowRight');
  await page.locator('#explanation').waitFor();
  assert.match(await page.locator('#explanation').innerText(), /Bytes to and from DRAM/);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-describedby')), 'explanation');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#explanation').count(), 0);
});

pageTest('the table is one tab stop', {}, async (page) => {
  await openSite(page, '?view=kernel');
  assert.equal(await page.locator('table.formats [tabindex="0"]').count(), 1);
});

pageTest('a question mark lists the keys, and a slash focuses the device field', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  assert.match(await page.getByRole('dialog').innerText(), /Arrow keys/);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  assert.equal(await focused(page), 'device');
  await page.keyboard.type('?');
  assert.equal(await page.getByRole('dialog').count(), 0, 'in a text field a question mark is a letter');
});
