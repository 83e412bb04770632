// Plausibility check of a claim in either view: its verdict, its explanations, the address, and invalid claims.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, withPage } from './harness.mjs';
import { pick, plain, query } from './page.mjs';

const section = (page) => page.locator('details', { has: page.locator('summary', { hasText: 'Is this possible?' }) });

/** Opens the section, which is loaded by the click. */
async function unfold(page, field) {
  await section(page).locator('summary').click();
  await page.locator(`#${field}`).waitFor();
}

/** Waits until the section matches the pattern: it follows the inputs by a frame. */
async function says(page, pattern) {
  const match = (pattern) => {
    const found = [...document.querySelectorAll('details')].find((it) => it.querySelector('summary')?.textContent === 'Is this possible?');
    return found !== undefined && new RegExp(pattern).test(found.textContent.replaceAll('\u202f', ' '));
  };
  await page.waitForFunction(match, pattern.source);
  return plain(await section(page).innerText());
}

pageTest('a claimed time of an operator is judged, explained, and in the address', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?view=kernel');
  await unfold(page, 'us');
  await says(page, /measured or claimed for this operator/);
  await page.locator('#us').fill('60');
  const said = await says(page, /Not possible: 1\.45 times as fast/);
  assert.match(said, /implied\s+149 GB\/s\s+0\.559 TFLOP\/s/);
  assert.match(said, /sustained\s+99\.2 GB\/s\s+11\.7 TFLOP\/s\s+origin\s+measured\s+measured/);
  assert.match(said, /of the tried ones, GGUF Q2_K \(2\.625 bits\) is the widest/);
  assert.equal(await query(page), '?us=60&v=1');
  await assertAccessible(page);
  await page.reload();
  await says(page, /Not possible: 1\.45 times as fast/);
  await pick(page, 'weights', 'fp16');
  await says(page, /Not possible: 5\.46 times as fast/);
  await page.locator('#us').fill('400');
  await says(page, /Possible: 82 % of the datasheet's roof, and 85 % of the sustained roof.*As expected: 348 µs/);
});

pageTest('an invalid time has a message at its field, and the last answer stays', {}, async (page) => {
  await openSite(page, '?us=60');
  await says(page, /Not possible: /);
  for (const wrong of ['0', '-5', 'fast', '1,5']) {
    await page.locator('#us').fill(wrong);
    assert.match(await page.locator('#us-message').innerText(), /above 0/, wrong);
    assert.equal(await page.locator('#us').getAttribute('aria-invalid'), 'true', wrong);
    await says(page, /Not possible: 1\.45/);
    await section(page).locator('.stale').waitFor();
  }
  await page.locator('#us').fill('');
  await says(page, /measured or claimed for this operator/);
  assert.equal(await page.locator('#us-message').innerText(), '');
  assert.equal(await query(page), '?view=kernel&v=1');
});

pageTest('a claim about a model is a rate of all users, a rate per user, or the duration of an answer', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?view=model&d=h100_sxm&weights=bf16&batch=1&prompt=512&generate=64');
  await unfold(page, 'ts');
  await page.locator('#ts').fill('500');
  const above = await says(page, /Not possible: 2\.25 times as fast/);
  for (const explanation of [/of the tried ones, GGUF Q6_K/, /batch \d+ reaches \d+ token\/s, and batch \d+ only \d+/, /drafts of \d+ with \d+ % accepted/]) {
    assert.match(above, explanation);
  }
  await assertAccessible(page);
  await page.locator('#batch').fill('4');
  await says(page, /Possible: 57 %/);
  await page.locator('#tk').selectOption('user');
  await says(page, /Not possible: 2\.2\d times as fast/);
  assert.match(await query(page), /ts=500&tk=user/);
  await page.locator('#tk').selectOption('s');
  await page.locator('#ts').fill('0.55');
  await says(page, /Possible(, but near the roof)?: .*As expected/);
  await page.locator('#generate').fill('131073');
  await says(page, /new_tokens must be from 1 to 131072/i);
  await page.locator('#generate').fill('64');
  await query(page); // the page adds a typed value to the history one frame later
  await page.goBack(); // the new tokens as typed
  assert.equal(await page.locator('#ts').inputValue(), '0.55');
  await page.goBack();
  assert.equal(await page.locator('#ts').inputValue(), '500');
  await page.goBack();
  assert.equal(await page.locator('#tk').inputValue(), 'user');
});

pageTest('claims of both views stay when the view changes', {}, async (page) => {
  await openSite(page, '?us=60&ts=5');
  await says(page, /Not possible: /);
  await page.getByRole('link', { name: 'Model' }).click();
  await says(page, /(Possible|Not possible)/);
  assert.equal(await page.locator('#ts').inputValue(), '5');
  assert.match(await query(page), /us=60&ts=5/);
});

pageTest('an unknown unit in the address is named in a note', {}, async (page) => {
  await openSite(page, '?view=model&ts=5&tk=minutes');
  assert.match(plain(await page.locator('.notes').innerText()), /tk=minutes, which is neither user nor s/);
  assert.equal(await page.locator('#tk').inputValue(), '');
});

test('on a phone the check is not wider than the screen', async () => {
  await withPage({ viewport: { width: 390, height: 844 } }, async (page) => {
    await openSite(page, '?view=model&d=h100_sxm&ts=500&weights=bf16&prompt=512&generate=64&batch=1');
    await says(page, /Not possible: /);
    const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= screen, `${wide} of ${screen}`);
  });
});
