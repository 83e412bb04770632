// The page fits one screen, and is a column on a phone; both are accessible in both color schemes, also with open parts.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, verdict } from './page.mjs';

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

pageTest('at 1440 × 900 the page needs no scrolling', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const hidden = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.inputs, .answer, .limits')]
      .filter((element) => element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1)
      .map((element) => `${element.className || 'page'}: ${element.scrollHeight} of ${element.clientHeight}`));
  assert.deepEqual(hidden, []);
});

for (const width of [320, 390, 768, 900, 1024, 1200, 1920]) {
  pageTest(`nothing is wider than a window of ${width}`, { viewport: { width, height: 844 } }, async (page) => {
    await openSite(page, '?view=kernel');
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
  });
}

pageTest('on a phone a summary line opens the inputs, and a selected row shows its other numbers', { viewport: phone }, async (page) => {
  await openSite(page, '?view=kernel');
  assert.equal(await page.locator('#device').isVisible(), false);
  await page.locator('.summary').click();
  assert.equal(await page.locator('#device').isVisible(), true);
  await pick(page, 'device', 'h100_sxm');
  assert.match(await page.locator('.summary').innerText(), /^H100 SXM/);
  await page.locator('.summary').click();
  const order = [];
  for (const part of ['.summary', 'h1', 'canvas', '.advice .choice', 'table.formats', '.limits .fold >> visible=true']) {
    order.push((await page.locator(part).first().boundingBox()).y);
  }
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  await page.getByRole('button', { name: 'FP8 E4M3' }).click();
  assert.match(await page.locator('tr.more').innerText(), /MB · .*FLOP\/B · expected/);
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [wide, phone]) {
    const size = viewport === wide ? 'wide' : 'phone';
    pageTest(`axe finds no violation, ${size}, ${colorScheme}, with parts closed and open`, { colorScheme, viewport }, async (page) => {
      await loadAxe(page);
      await openSite(page, '?d=nowhere');
      await assertAccessible(page);
      if (viewport === phone) {
        await page.locator('.summary').click();
      }
      await page.locator('#m').fill('x');
      await page.locator('#device').click();
      await assertAccessible(page);
      await page.locator('#device').pressSequentially('no such thing');
      await assertAccessible(page);
      await page.locator('#m').fill('1');
      await page.locator('tr.chosen .explained:visible').first().focus();
      await page.locator('#explanation').waitFor();
      await assertAccessible(page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?'); // the phone layout has no button for it
      await page.getByRole('dialog').waitFor();
      await assertAccessible(page);
    });
  }
}

pageTest('the canvas has a text alternative', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const label = await page.locator('canvas').getAttribute('aria-label');
  assert.match(label, /Roofline of Jetson Orin Nano/);
  assert.ok(label.includes(await page.locator('h1').innerText()));
  assert.match(await verdict(page), /^Memory-bound: arithmetic waits for DRAM 98 % of the time\.$/);
});
