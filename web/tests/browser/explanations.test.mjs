// Every number shows its explanation on hover, focus and tap, in a single popover.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { plain } from './page.mjs';

pageTest('hover shows formula, values, provenance and source', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('tr.chosen .explained').nth(3).hover();
  const text = plain(await page.locator('#explanation').innerText());
  assert.match(text, /Expected time/);
  assert.match(text, /published measurements? of this device.*engine vllm/s);
  assert.match(text, /max\(87\.2 µs ÷ 0\.\d+, 2\.01 µs ÷ 0\.\d+\) \+ [\d.]+ µs = \d+ µs; interval/);
  await page.locator('#explanation').hover();
  await page.waitForTimeout(300);
  assert.equal(await page.locator('#explanation').count(), 1, 'it stays while the pointer is on it');
  await page.mouse.move(5, 5);
  await page.locator('#explanation').waitFor({ state: 'detached' });
});

pageTest('every number on the page has an explanation inside the window', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('.advice .explained').first().waitFor(); // the adviser comes with a chunk
  const numbers = page.locator('.explained');
  const count = await numbers.count();
  assert.ok(count > 40, `only ${count} numbers`);
  for (let index = 0; index < count; index += 1) {
    await numbers.nth(index).focus();
    const box = await page.locator('#explanation').boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 1440 && box.y + box.height <= 900, `number ${index}: ${JSON.stringify(box)}`);
    assert.equal(await page.locator('#explanation').count(), 1);
    assert.ok((await page.locator('#explanation .badge').innerText()).length > 3);
    assert.ok((await page.locator('#explanation .source').innerText()).length > 3);
  }
});

pageTest('Escape closes an explanation, and a tap opens it', { hasTouch: true, viewport: { width: 390, height: 844 } }, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('tr.chosen .explained:visible').first().tap();
  await page.locator('#explanation').waitFor();
  const box = await page.locator('#explanation').boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#explanation').count(), 0);
  await page.locator('tr.chosen .explained:visible').last().tap();
  await page.locator('#explanation').waitFor();
  await page.locator('h1').tap();
  await page.locator('#explanation').waitFor({ state: 'detached' });
});
