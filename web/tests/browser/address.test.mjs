// The address reproduces the page's state: back, forward, reload, invalid values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSite, pageTest, siteUrl, withPage } from './harness.mjs';
import { chosenRow, pick, plain, query, readTable, type, verdict } from './page.mjs';

pageTest('the bare address opens Plan and stays bare', {}, async (page) => {
  await openSite(page);
  await page.locator('main.plan').waitFor();
  assert.match(await verdict(page), /^Take /);
  assert.equal(await query(page), '');
});

test('a link is never answered by another question while nothing reads its address', { timeout: 60_000 }, async () => {
  await withPage({}, async (page) => {
    await page.route('**/split_address*', (route) => route.abort());
    await page.goto(`${siteUrl}?view=plan&d=t4&v=1`);
    const message = page.getByRole('alert');
    assert.match(plain(await message.textContent()), /address could not be read.*could not be fetched/);
    assert.equal(await page.locator('main.plan, .verdict').count(), 0, 'no numbers of the default device');
    await page.unroute('**/split_address*');
    await message.getByRole('button', { name: 'Try again' }).click();
    await page.locator('main.plan').waitFor();
    assert.match(await page.locator('#part-device').textContent(), /T4/);
  });
});

test('the bare address needs no reader, and Back to another one fetches it', { timeout: 60_000 }, async () => {
  await withPage({}, async (page) => {
    await page.route('**/split_address*', (route) => route.abort());
    await openSite(page);
    await page.locator('main.plan').waitFor();
    await page.evaluate(() => {
      history.pushState(null, '', '?view=plan&d=t4&v=1');
      history.pushState(null, '', '?view=plan&d=h100_sxm&v=1');
    });
    await page.goBack();
    await page.locator('.notes li').waitFor();
    assert.match(await page.locator('.notes').textContent(), /could not be fetched/);
    await page.unroute('**/split_address*');
    await page.goForward();
    await page.locator('#part-device').getByText('H100').waitFor();
    await page.goBack();
    await page.locator('#part-device').getByText('T4').waitFor();
  });
});

pageTest('choices and typing add history entries, and a reload restores the state', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await type(page, 'm', '64');
  assert.equal(await query(page), '?m=64&v=1');
  await pick(page, 'device', 'h100_sxm');
  assert.equal(await query(page), '?d=h100_sxm&m=64&v=1');
  await page.getByRole('button', { name: 'FP16', exact: false }).first().click();
  assert.match(await query(page), /w=fp16/);
  const [sentence, table] = [await verdict(page), await readTable(page)];

  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual([await verdict(page), await readTable(page)], [sentence, table]);
  assert.equal(await page.locator('#m').inputValue(), '64');

  await page.goBack();
  assert.equal(await query(page), '?d=h100_sxm&m=64&v=1');
  assert.match(await chosenRow(page), /^INT4 g128/);
  await page.goBack();
  assert.equal(await query(page), '?m=64&v=1');
  assert.match(await page.locator('#device').inputValue(), /Orin Nano/);
  await page.goBack();
  assert.equal(await query(page), '?view=kernel');
  assert.equal(await page.locator('#m').inputValue(), '1');
  await page.goForward();
  await page.goForward();
  await page.goForward();
  assert.deepEqual([await verdict(page), await readTable(page)], [sentence, table]);
});

pageTest('a link with every key restores every input', {}, async (page) => {
  await openSite(page, '?d=jetson_agx_orin_64gb&pm=MAXN&m=8&n=1024&k=2048&w=gguf_q6_k&a=bf16&v=1');
  assert.match(await page.locator('#device').inputValue(), /AGX Orin/);
  assert.equal(await page.locator('#mode').inputValue(), 'MAXN');
  assert.deepEqual(await Promise.all(['m', 'n', 'k'].map((id) => page.locator(`#${id}`).inputValue())), ['8', '1024', '2048']);
  assert.match(await chosenRow(page), /^GGUF Q6_K/);
  assert.equal(await page.locator('#activations').inputValue(), 'BF16');
  assert.equal(await page.locator('.notes li').count(), 0);
});

pageTest('a device alias in a link is resolved', {}, async (page) => {
  await openSite(page, '?d=b10');
  assert.match(await page.locator('#device').inputValue(), /GB10/);
});

pageTest('invalid values in every key are each named in a note, and notes can be dismissed', {}, async (page) => {
  await openSite(page, '?d=h10&pm=turbo&m=0&n=-1&k=1e30&w=int4_g&a=nf4&v=zzz&q=%3Cb%3E');
  assert.match(await verdict(page), /^Memory-bound/);
  assert.equal(await page.locator('#m').inputValue(), '1');
  const notes = (await page.locator('.notes li span').allInnerTexts()).map(plain);
  const expected = [/d=h10.*h100_sxm/, /pm=turbo.*MAXN_SUPER/, /m=0.*from 1 to 1 000 000 000/, /n=-1/, /k=1e30/, /w=int4_g.*int4_g128/, /a=nf4.*weights only/, /v=zzz/, /q=<b>/];
  assert.equal(notes.length, expected.length);
  expected.forEach((pattern, index) => assert.match(notes[index], pattern));
  for (let left = notes.length; left > 0; left -= 1) {
    await page.locator('.notes button').first().click();
    assert.equal(await page.locator('.notes li').count(), left - 1);
  }
});

for (const bad of ['?%', '?%ff=%fe', '?====&&&&', `?d=${'x'.repeat(5000)}`, '?m=%00', '?d=__proto__&w=constructor', '?m=٣&n=１']) {
  pageTest(`the malformed address ${bad.slice(0, 20)} leaves the page working`, {}, async (page) => {
    await openSite(page, bad);
    assert.match(await verdict(page), /^Memory-bound/);
    assert.equal(await page.locator('#m').inputValue(), '1');
  });
}
