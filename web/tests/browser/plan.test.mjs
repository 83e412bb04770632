// The Plan view: the scenario line, cards, schemes, tabs, keyboard, address, widths and colors.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query, type, verdict as shown } from './page.mjs';

const phone = { width: 390, height: 844 };
const open = (page, more = '') => openSite(page, `?view=plan&prompt=4096${more}`);
const cards = (page) => page.locator('.card').evaluateAll((cards) => cards.map((card) => card.innerText.replace(/\n+/g, '\n')));
/** The verdict, which follows the inputs after the next frame. */
const verdict = async (page) => {
  await query(page);
  return shown(page);
};
const line = async (page) => plain(await page.locator('.scenario .line').innerText());

pageTest('the default scenario has a scheme that fits, with speed and loss', {}, async (page) => {
  await open(page);
  assert.match(await verdict(page), /^Take .*: it fits, .* token\/s\.$/);
  const [fits, speed, quality] = (await cards(page)).map(plain);
  assert.match(fits, /^Fits\s.* GB of .* GB\s.* GB left\sroom for \d+ users, or .* tokens$/);
  assert.match(speed, /^Speed\s.* token\/s .*–.*\sfirst token .*\swhole answer .*\s.* at the roof · .* per token$/);
  assert.match(quality, /^Quality\s\+.*% perplexity\s16 bits would be .* GB short$/);
  assert.match(await line(page), /^Llama-3\.1 8B on 1 × Jetson Orin Nano 8GB Super at .* with the usual engine in the best scheme · 1 user · 4 096 tokens in, 128 out/);
});

pageTest('each part of the scenario opens its fields, by mouse and by keyboard', {}, async (page) => {
  await open(page);
  await page.locator('#part-device').click();
  await pick(page, 'device', 'h100 sxm');
  assert.match(await query(page), /d=h100_sxm/);
  assert.match(await line(page), /on 1 × H100 SXM5 80GB with/);
  await type(page, 'tp', '2');
  assert.match(await line(page), /on 2 × H100/);
  await page.locator('#tp').press('Escape');
  assert.equal(await page.locator('#tp').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'part-device');
  await page.locator('#part-users').press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'batch');
  await page.keyboard.type('16');
  assert.equal(await page.locator('#batch').inputValue(), '16', 'the old value is replaced');
  await type(page, 'batch', '16');
  assert.match(await line(page), /16 users/);
  assert.match(await verdict(page), /token\/s in all\.$/);
  await type(page, 'batch', '0');
  assert.match(plain(await page.locator('#batch-message').innerText()), /from 1 to/);
  assert.equal(await page.locator('.answer.stale').count(), 1);
});

pageTest('a scheme that is picked takes the cards, and Back returns', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  const first = await verdict(page);
  await page.locator('table.schemes button', { hasText: 'GGUF Q6_K' }).click();
  assert.match(await verdict(page), /^With GGUF Q6_K: it fits/);
  assert.match(await query(page), /scheme=gguf_q6_k/);
  assert.match(plain(await page.locator('.back').innerText()), /^Recommended: /);
  await page.getByRole('button', { name: 'Show it' }).click();
  assert.equal(await verdict(page), first);
  await page.goBack();
  assert.match(await verdict(page), /^With GGUF Q6_K/);
  await page.locator('table.schemes button', { hasText: 'INT2 g64 weights' }).click();
  assert.match(await verdict(page), /is out of the question: .*5 % allowed\.$/);
});

pageTest('what does not fit promises no speed', {}, async (page) => {
  await open(page, '&model=llama-3.1-405b');
  assert.equal(await verdict(page), 'Nothing meets the bounds.');
  assert.match(plain(await page.locator('.verdict p').innerText()), /^The smallest, .* short of .* usable\.$/);
  assert.deepEqual(await cards(page), []);
  assert.equal(await page.locator('.roofline').count(), 0);
  for (const name of ['Operators', 'Users and context']) {
    await page.getByRole('tab', { name }).click();
    await page.locator('.no-speed').waitFor();
    assert.doesNotMatch(plain(await page.locator('#plan-tab').innerText()), /\d (token\/s|s|ms|µs)\b/, name);
  }
  await page.getByRole('tab', { name: 'Schemes' }).click();
  assert.doesNotMatch(plain(await page.locator('table.schemes').innerText()), /token\/s/);
});

pageTest('the chart of schemes and the tabs work by keyboard', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await page.locator('#schemes').focus();
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await page.locator('.scheme-chart [role="status"]').innerText()), /:/);
  await page.keyboard.press('Enter');
  assert.match(await query(page), /scheme=/);
  await page.locator('#tab-0').focus();
  for (const name of ['Operators', 'Memory', 'Users and context', 'Questions']) {
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), name);
    await page.waitForFunction(() => document.querySelector('#plan-tab').innerText.length > 40); // fetched with the first tab
  }
  assert.match(await query(page), /tab=questions/);
  await page.goBack();
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), 'Users and context');
  await page.reload();
  await page.locator('main.plan').waitFor();
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), 'Users and context');
});

pageTest('the scheme part has the scheme and the formats of KV cache and embedding', {}, async (page) => {
  await open(page);
  await page.locator('#part-scheme').click();
  await page.locator('#scheme').waitFor();
  await pick(page, 'kv', 'q8_0');
  assert.match(await line(page), /in the best scheme, KV cache /);
  await pick(page, 'scheme', 'q6_k');
  assert.match(await line(page), /in GGUF Q6_K, KV cache /);
  assert.match(await query(page), /scheme=gguf_q6_k.*kv=gguf_q8_0/);
});

pageTest('a slash opens the device of the scenario', {}, async (page) => {
  await open(page);
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement.id === 'device');
});

pageTest('on a phone the places are at the bottom, and a row has name, time, memory and loss', { viewport: phone }, async (page) => {
  await open(page);
  for (const name of ['Plan', 'Compare', 'Explore', 'Kernel', 'Model', 'Device', 'Trust', 'Learn']) {
    const box = await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).boundingBox();
    assert.ok(box.y > 780 && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, `${name} ${JSON.stringify(box)}`);
  }
  const table = page.locator('.plan .scroll', { has: page.locator('table.schemes') });
  assert.equal(await table.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
  const row = plain(await page.locator('table.schemes tbody tr').first().innerText());
  assert.match(row, /s\s.* GB\s.* %/);
});

pageTest('a number in a card explains itself in the inspector', {}, async (page) => {
  await open(page);
  await page.locator('.card', { hasText: 'Quality' }).locator('button').click();
  assert.match(plain(await page.locator('#inspector').innerText()), /^Loss of quality/);
  await page.locator('.card', { hasText: 'Fits' }).locator('button').click();
  assert.match(plain(await page.locator('#inspector').innerText()), /^Memory .*weights \+ KV cache \+ activations \+ reserve/s);
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [{ width: 1440, height: 900 }, phone, { width: 320, height: 700 }]) {
    pageTest(`the plan has no axe finding and no sideways scrolling at ${viewport.width} px, ${colorScheme}`, { viewport, colorScheme }, async (page) => {
      await loadAxe(page);
      await open(page);
      await assertAccessible(page);
      await page.locator('#part-device').click();
      await assertAccessible(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0);
    });
  }
}
