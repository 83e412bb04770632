// Sliders: keyboard, drag, stops, and the entries of the history that dragging and typing make.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { plain, query, type, verdict } from './page.mjs';

const phone = { width: 390, height: 844 };
const plan = (page, more = '') => openSite(page, `?view=plan&prompt=4096${more}`);
const spoken = (page, id) => page.locator(`#${id}-slider`).getAttribute('aria-valuetext').then(plain);
const entries = (page) => page.evaluate(() => history.length);

/** Opens a part of the scenario and waits for its slider. */
async function openPart(page, part, id) {
  await page.locator(`#part-${part}`).click();
  await page.locator(`#${id}-slider`).waitFor();
  await query(page);
}

/** Drags the thumb of a slider to fractions of its width, one after the other, and releases it at the last. */
async function drag(page, id, fractions) {
  const { x, y, width, height } = await page.locator(`#${id}-slider`).boundingBox();
  const at = (fraction) => [x + 8 + (width - 16) * fraction, y + height / 2];
  await page.mouse.move(...at(fractions[0]));
  await page.mouse.down();
  const seen = [];
  for (const fraction of fractions.slice(1)) {
    await page.mouse.move(...at(fraction), { steps: 4 });
    seen.push({ address: await query(page), value: await page.locator(`#${id}`).inputValue(), verdict: await verdict(page) });
  }
  await page.mouse.up();
  await query(page);
  return seen;
}

pageTest('arrow keys go from stop to stop, and the answer follows', {}, async (page) => {
  await plan(page, '&d=h100_sxm');
  await openPart(page, 'users', 'batch');
  const one = await verdict(page);
  const count = await entries(page);
  await page.locator('#batch-slider').focus();
  for (const users of ['2', '4', '8']) {
    await page.keyboard.press('ArrowRight');
    await query(page);
    assert.equal(await page.locator('#batch').inputValue(), users);
    assert.equal(await spoken(page, 'batch'), users);
  }
  assert.match(await query(page), /batch=8/);
  assert.match(await verdict(page), /token\/s in all\.$/);
  assert.equal(await entries(page), count + 1, 'one entry for a stay on the slider');
  await page.goBack();
  await query(page);
  assert.equal(await page.locator('#batch').inputValue(), '1');
  assert.equal(await verdict(page), one);
});

pageTest('a drag moves the answer as it goes, and is one entry of the history', {}, async (page) => {
  await plan(page, '&d=h100_sxm');
  await openPart(page, 'users', 'batch');
  const [before, count] = [await query(page), await entries(page)];
  const seen = await drag(page, 'batch', [0, 0.3, 0.5, 0.7]);
  assert.ok(seen.every(({ address }) => address === before), 'the address waits for the release');
  assert.equal(new Set(seen.map(({ verdict }) => verdict)).size, 3, JSON.stringify(seen));
  const last = await page.locator('#batch').inputValue();
  assert.equal(last, seen.at(-1).value);
  assert.match(await query(page), new RegExp(`batch=${last}`));
  assert.equal(await entries(page), count + 1);
  await drag(page, 'batch', [0.7, 0.2]);
  assert.equal(await entries(page), count + 2, 'the next drag is another one');
  await page.goBack();
  await query(page);
  assert.equal(await page.locator('#batch').inputValue(), last);
  await page.goBack();
  await query(page);
  assert.equal(await query(page), before);
  assert.equal(await page.locator('#batch').inputValue(), '1');
});

pageTest('the range ends where memory does and stands still while the slider moves', {}, async (page) => {
  await plan(page);
  await openPart(page, 'users', 'batch');
  const ends = () => page.locator('#batch-slider + small').innerText().then(plain);
  const first = await ends();
  await page.locator('#batch-slider').focus();
  await page.keyboard.press('End');
  await query(page);
  assert.equal(await ends(), first);
  assert.match(await verdict(page), /it fits/);
  const most = Number(await page.locator('#batch').inputValue());
  await type(page, 'batch', String(most + 1));
  assert.doesNotMatch(await verdict(page), /it fits/);
});

pageTest('each power mode is a stop with its name', {}, async (page) => {
  await plan(page);
  await openPart(page, 'mode', 'mode');
  const [count, peaks] = [await entries(page), await verdict(page)];
  await page.locator('#mode-slider').focus();
  await page.keyboard.press('Home');
  await query(page);
  assert.match(await spoken(page, 'mode'), /^7W$/);
  assert.match(await query(page), /pm=7W/);
  assert.notEqual(await verdict(page), peaks);
  assert.equal(await page.locator('#mode').inputValue(), '7W');
  assert.equal(await entries(page), count + 1);
  await page.goBack();
  await query(page);
  assert.equal(await spoken(page, 'mode'), 'peaks of the datasheet');
});

pageTest('M of a product slides in the Kernel view, and the point walks', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await query(page);
  const seen = await drag(page, 'm', [0, 0.2, 0.5]);
  assert.equal(new Set(seen.map(({ verdict }) => verdict)).size, 2, JSON.stringify(seen));
  assert.match(await query(page), new RegExp(`m=${seen.at(-1).value}`));
  await page.goBack();
  await query(page);
  assert.equal(await page.locator('#m').inputValue(), '1');
});

pageTest('typing is one entry per field, and Back never leaves the page', {}, async (page) => {
  await plan(page);
  const [start, count] = [await query(page), await entries(page)];
  await page.locator('#part-in').click();
  await page.locator('#prompt').waitFor();
  await type(page, 'prompt', '1024');
  await query(page);
  assert.equal(await entries(page), count + 1);
  await type(page, 'context', '2048');
  assert.match(await query(page), /prompt=1024.*ctx=2048|prompt=1024.*context=2048/);
  assert.equal(await entries(page), count + 2);
  await page.goBack();
  assert.match(await query(page), /prompt=1024/);
  assert.doesNotMatch(await query(page), /2048/);
  await page.goBack();
  assert.equal(await query(page), start);
  assert.equal(await page.locator('main.plan').count(), 1);
});

for (const [viewport, colorScheme] of [[{ width: 1440, height: 900 }, 'light'], [phone, 'dark']]) {
  pageTest(`sliders have no axe finding at ${viewport.width} px, ${colorScheme}`, { viewport, colorScheme }, async (page) => {
    await loadAxe(page);
    await plan(page);
    await openPart(page, 'in', 'prompt');
    await assertAccessible(page);
    await openPart(page, 'mode', 'mode');
    await assertAccessible(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0);
  });
}
