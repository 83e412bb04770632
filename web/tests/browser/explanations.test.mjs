// Every number shows its explanation on hover and focus, in a single popover; a click or a tap keeps it in the inspector.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { plain, type } from './page.mjs';

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

const inspected = async (page) => plain(await page.locator('#inspected').innerText());

pageTest('a click keeps the explanation in the inspector, where it follows the inputs', {}, async (page) => {
  await openSite(page, '?view=kernel');
  assert.equal(await page.locator('#inspected').isVisible(), false);
  const number = page.locator('tr.chosen .explained').nth(1);
  await number.click();
  assert.match(await inspected(page), /^Arithmetic intensity.*2 M N K ÷ bytes.*33\.6 MFLOP.*Learn: The roofline/s);
  assert.equal(await page.locator('#explanation').count(), 0, 'the popover would say the same');
  assert.equal(await number.getAttribute('aria-expanded'), 'true');
  await page.mouse.move(5, 5);
  await type(page, 'm', '16');
  assert.match(await inspected(page), /^Arithmetic intensity.*537 MFLOP/s);
  const page_of_term = await page.locator('#inspected a', { hasText: 'The roofline' }).evaluate((link) => link.href);
  const lesson = await page.request.get(page_of_term);
  assert.equal(lesson.status(), 200);
  assert.match(await lesson.text(), /<h1[^>]*>The roofline/);
  await page.locator('#advice-0').click();
  assert.match(await inspected(page), /against 16 bits/, 'one inspector for all numbers');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#inspected').isVisible(), false);
});

pageTest('the inspector of a model links the measurements behind a time', {}, async (page) => {
  await openSite(page, '?view=model');
  await page.locator('#expected-1').click();
  assert.match(await inspected(page), /^Each token, expected fitted.*Learn: Expected times/s);
  await page.locator('#inspected a.badge').click();
  await page.locator('main.trust').waitFor();
  await page.goBack();
  await page.locator('#expected-1').waitFor();
});

pageTest('a tap opens a sheet above the bar of places, which closes', { hasTouch: true, viewport: { width: 390, height: 844 } }, async (page) => {
  await openSite(page, '?view=kernel');
  for (const close of [() => page.keyboard.press('Escape'), () => page.getByRole('button', { name: 'Close the explanation' }).tap()]) {
    await page.locator('tr.chosen .explained:visible').first().tap();
    await page.locator('#inspected').waitFor();
    const [sheet, bar] = await Promise.all(['#inspected', '.top nav'].map((part) => page.locator(part).boundingBox()));
    assert.ok(sheet.x === 0 && sheet.width === 390 && sheet.y > 300, JSON.stringify(sheet));
    const text = await page.locator('#inspected p:visible').last().boundingBox();
    assert.ok(text.y > sheet.y && text.y + text.height < bar.y, JSON.stringify([sheet, text, bar]));
    assert.equal(await page.locator('#explanation').count(), 0);
    await close();
    await page.locator('#inspected').waitFor({ state: 'hidden' });
  }
});
