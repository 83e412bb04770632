// The Compare view: pins from Plan, columns, differences, chart, links, Back, keyboard, widths and colors.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query, verdict as shown } from './page.mjs';

const phone = { width: 390, height: 844 };
const orins = '?view=compare&c=model:llama-3.1-8b,d:jetson_orin_nano_8gb_super,prompt:2048&c=model:llama-3.1-8b,d:jetson_agx_orin_64gb,prompt:2048&v=1';

/** Opens a query and waits for the columns, which are in a chunk. */
async function open(page, link) {
  await openSite(page, link);
  await page.locator('main.compare').waitFor();
}
const verdict = async (page) => {
  await query(page);
  return shown(page);
};
/** Names of the columns, once the answer of the last change is drawn. */
const columns = async (page) => {
  await query(page);
  return page.locator('.compared thead .name').evaluateAll((names) => names.map((name) => name.textContent));
};
/** Cells of a row, by its name. */
const row = async (page, name) => {
  await query(page);
  const cells = await page.locator('.compared tbody tr', { has: page.getByRole('rowheader', { name, exact: true }) }).locator('td').allInnerTexts();
  return cells.map(plain);
};
const inView = (locator) => locator.evaluate((element) => {
  const { top, left, bottom, right } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
});

pageTest('two devices stand side by side with who wins, by how much and why', {}, async (page) => {
  await open(page, orins);
  assert.deepEqual(await columns(page), ['Jetson Orin Nano 8GB Super', 'Jetson AGX Orin 64GB']);
  assert.match(await verdict(page), /^Jetson AGX Orin 64GB is .* × faster than Jetson Orin Nano 8GB Super: .* s against .* s for the whole answer, each in the scheme that is best for it\.$/);
  assert.match(plain(await page.locator('.verdict p').innerText()), /instead of .* \([\d.]+ × as much\)\.$/);
  assert.match(plain(await page.locator('.common').innerText()), /^Llama-3\.1 8B on … .* · 1 user · 2 048 tokens in, 128 out/);
  const [first, other] = await row(page, 'Decode rate');
  assert.match(first, /^[\d.]+ token\/s\s+[\d.]+–[\d.]+$/);
  assert.match(other, /token\/s\s+[\d.]+–[\d.]+\s+[\d.]+ × faster$/);
  assert.match((await row(page, 'Bandwidth'))[1], /204\.8 GB\/s\s+2 × as much, better/);
  assert.match((await row(page, 'Fits'))[0], /GB of .* GB\s+.* left/);
  assert.equal(await query(page), orins);
});

pageTest('one click holds one scheme in all columns, another gives each its own, and Back undoes', {}, async (page) => {
  await open(page, orins);
  const button = page.locator('#hold-scheme');
  assert.match(await button.innerText(), /^Same scheme in all: /);
  await button.click();
  await page.getByText('The best scheme for each').waitFor();
  assert.match(await query(page), /scheme:\w+.*&c=.*scheme:\w+/);
  assert.deepEqual(await row(page, 'Scheme'), []);
  await button.click();
  await page.getByText('Same scheme in all').waitFor();
  assert.equal(await query(page), orins);
  await page.goBack();
  await page.getByText('The best scheme for each').waitFor();
});

pageTest('three columns are all in the sentence, with the room for users of each', {}, async (page) => {
  await open(page, `${orins}&c=model:llama-3.1-8b,d:h100_sxm,prompt:2048`);
  const sentence = await verdict(page);
  for (const name of await columns(page)) {
    assert.ok(sentence.includes(name), `${name}: ${sentence}`);
  }
  const users = await row(page, 'Users that fit');
  assert.equal(users.length, 3);
  assert.match(users[0], /^\d+ with 2 175 tokens each$/);
});

pageTest('power modes stand by their watts', {}, async (page) => {
  await openSite(page, '?view=plan');
  const bar = page.getByRole('group', { name: 'Compare' });
  await bar.waitFor();
  const labels = (await bar.getByRole('button').allInnerTexts()).map(plain);
  assert.deepEqual(labels.slice(1, 6), ['15W against 7W', '7W', '15W', '25W', 'MAXN_SUPER · 25 W']);
});

pageTest('one click compares two power modes, also from the peaks of the datasheet', {}, async (page) => {
  await openSite(page, '?view=plan');
  await page.getByRole('button', { name: '15W against 7W' }).click();
  await page.locator('.compared').waitFor();
  assert.equal((await columns(page)).length, 2);
  assert.match(await verdict(page), /^15W is .*× faster than 7W/);
  await page.goBack();
  await page.locator('main.plan').waitFor();
});

pageTest('only rows that differ are shown, and the switch for all is in the link', {}, async (page) => {
  await open(page, '?view=compare&c=d:h100_sxm&c=d:h100_sxm,batch:16');
  assert.deepEqual(await row(page, 'Bandwidth'), []);
  await page.locator('#all-rows').check();
  assert.equal((await row(page, 'Bandwidth')).length, 2);
  assert.match(await query(page), /rows=all/);
  await page.goBack();
  assert.deepEqual(await row(page, 'Bandwidth'), []);
  assert.equal(await page.locator('#all-rows').isChecked(), false);
});

pageTest('Plan pins a scenario against another mode, users, precision and device with one click each, and Back undoes', {}, async (page) => {
  await openSite(page, '?view=plan&pm=15W');
  for (const [name, says] of [['7W', /^15W .*× faster than 7W/], ['16 users', /^16 users do not fit, 1 user does: /], ['16 bits', /^16 bits does not fit, the best scheme does: /]]) {
    await page.getByRole('group', { name: 'Compare' }).getByRole('button', { name, exact: true }).click();
    await page.locator('.compared').waitFor();
    assert.match(await verdict(page), says, name);
    assert.equal((await columns(page)).length, 2);
    await page.goBack();
    await page.locator('main.plan').waitFor();
    assert.equal(await query(page), '?view=plan&pm=15W');
  }
  await page.getByRole('button', { name: 'another device' }).click();
  await page.locator('#other-device').waitFor();
  await pick(page, 'other-device', 'agx orin 64');
  await page.locator('.compared').waitFor();
  assert.match(await query(page), /^\?view=compare&c=model:llama-3\.1-8b,d:jetson_orin_nano_8gb_super,pm:15W&c=model:llama-3\.1-8b,d:jetson_agx_orin_64gb&v=1$/);
  await page.reload();
  await page.locator('.compared').waitFor();
  assert.equal((await columns(page)).length, 2);
});

pageTest('columns are added, moved first, removed, opened in Plan and pinned again, each with an entry in the history', {}, async (page) => {
  await openSite(page, '?view=plan');
  await page.locator('#compare-pin').click();
  await page.locator('.compared').waitFor();
  assert.match(await page.locator('[role="alert"]').innerText(), /one scenario so far/);
  await page.getByRole('button', { name: '16 users' }).click();
  await page.getByRole('button', { name: '7W', exact: true }).click();
  assert.equal((await columns(page)).length, 3);
  const names = await columns(page);
  await page.getByRole('button', { name: `Move first: ${names[2]}` }).click();
  assert.equal((await columns(page))[0], names[2]);
  await page.goBack();
  assert.deepEqual(await columns(page), names);
  await page.getByRole('button', { name: `Remove: ${names[1]}` }).click();
  assert.equal((await columns(page)).length, 2);
  await page.getByRole('button', { name: 'Open in Plan: 7W' }).click();
  await page.locator('main.plan').waitFor();
  assert.match(plain(await page.locator('.scenario .line').innerText()), /at 7W with/);
  await page.getByRole('group', { name: 'Compare' }).getByRole('button', { name: 'Add to the comparison of 2' }).click();
  await page.locator('.compared').waitFor();
  assert.equal((await columns(page)).length, 2, 'it is there already');
});

pageTest('what does not fit shows no speed', {}, async (page) => {
  await open(page, '?view=compare&c=d:jetson_orin_nano_8gb_super&c=d:jetson_orin_nano_8gb_super,scheme:half');
  assert.match(await verdict(page), /^16 bits does not fit, the best scheme does: .* token\/s\.$/);
  assert.match(plain(await page.locator('.verdict p').innerText()), /^16 bits does not fit: .* short of .* usable\.$/);
  for (const name of ['Decode rate', 'First token', 'Whole answer', 'Energy, whole answer']) {
    assert.equal((await row(page, name))[1], '–', name);
  }
  assert.match((await row(page, 'Fits'))[1], /^Does not fit: /);
});

pageTest('wrong links are said where one looks', {}, async (page) => {
  await open(page, '?view=compare&c=d:gone_gpu&c=d:t4&c=%F0%9F%92%A9&c=d:t4,batch:0&c=d:h100_sxm');
  assert.match(await page.locator('.notes').innerText(), /has 5 scenarios/);
  const faults = await page.locator('.compared thead .message').allInnerTexts();
  assert.equal(faults.length, 3);
  assert.match(faults[0], /d=gone_gpu, which is no device of the catalog/);
  assert.match(faults[2], /from 1 to/);
  assert.match(await page.locator('[role="alert"]').innerText(), /one scenario so far/);
  assert.ok(await inView(page.locator('[role="alert"] .message')));
  await open(page, '?view=compare&c=d:t4&c=d:t4');
  assert.match(await page.locator('[role="alert"]').innerText(), /Column 2 is the same scenario as column 1/);
  await open(page, '?view=compare&c=&c=,:,=&rows=x#s=garbage');
  assert.ok((await columns(page)).length <= 2);
  await open(page, '?view=compare');
  assert.deepEqual((await columns(page)).length, 1);
});

pageTest('the comparison works by keyboard', {}, async (page) => {
  await open(page, orins);
  await page.locator('#spans').focus();
  await page.keyboard.press('ArrowRight');
  const said = page.locator('.compare-chart [role="status"]');
  assert.match(plain(await said.innerText()), /^Jetson Orin Nano 8GB Super: Whole answer .* s/);
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await said.innerText()), /^Jetson AGX Orin 64GB: /);
  await page.getByRole('button', { name: 'another device' }).press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'other-device');
  await page.keyboard.type('h100 sxm');
  await page.keyboard.press('Enter');
  assert.equal((await columns(page)).length, 3);
});

pageTest('on a phone two columns are seen without scrolling', { viewport: phone }, async (page) => {
  await open(page, orins);
  const heads = await page.locator('.compared thead th').evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect().right));
  assert.ok(heads.every((right) => right <= 390), `${heads}`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [{ width: 1440, height: 900 }, phone]) {
    pageTest(`the comparison has no axe finding at ${viewport.width} px, ${colorScheme}`, { viewport, colorScheme }, async (page) => {
      await loadAxe(page);
      await open(page, `${orins}&c=d:gone&c=d:jetson_orin_nano_8gb_super,scheme:half&rows=all`);
      await assertAccessible(page);
      await open(page, orins);
      await page.getByRole('button', { name: 'another device' }).click();
      await page.locator('#other-device').waitFor();
      await assertAccessible(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    });
  }
}
