// Invalid input is marked and explained, and the last valid answer stays, dimmed.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { chosenRow, pick, plain, query, readTable, type, verdict } from './page.mjs';

for (const wrong of ['0', '-1', '1.5', '1e30', '4kB', 'abc', '1000000001', '99999999999999999999999999']) {
  pageTest(`M = ${wrong} is refused in the field`, {}, async (page) => {
    await openSite(page, '?view=kernel');
    await type(page, 'n', '1024');
    const table = await readTable(page);
    await page.locator('#m').fill(wrong);
    assert.equal(await page.locator('#m').getAttribute('aria-invalid'), 'true');
    assert.equal(plain(await page.locator('#m-message').innerText()), 'M must be a whole number from 1 to 1 000 000 000.');
    assert.deepEqual(await readTable(page), table, 'the last good answer stays');
    assert.ok(Number(await page.locator('.chart').evaluate((chart) => getComputedStyle(chart).opacity)) < 1, 'it is dimmed');
    assert.equal(await query(page), '?n=1024&v=1', 'the address keeps the last good shape');
    await page.locator('#m').fill('2');
    assert.equal(await page.locator('#m').getAttribute('aria-invalid'), 'false');
    assert.equal(await page.locator('.stale').count(), 0);
    assert.notDeepEqual(await readTable(page), table);
  });
}

pageTest('an empty field is invalid input too', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#k').fill('');
  assert.match(await page.locator('#k-message').innerText(), /^K must be/);
});

pageTest('presets fill in a shape', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.getByRole('button', { name: 'prefill 2048' }).click();
  assert.equal(await page.locator('#m').inputValue(), '2048');
  assert.match(await verdict(page), /^Compute-bound/);
  assert.equal(await page.getByRole('button', { name: 'prefill 2048' }).getAttribute('aria-pressed'), 'true');
});

pageTest('a search without matches shows a message, and Escape restores the choice', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const device = page.locator('#device');
  const name = await device.inputValue();
  await device.click();
  await device.pressSequentially('no such thing');
  await page.locator('.picker.open').getByText('Nothing has that name.').waitFor();
  await device.press('Escape');
  assert.equal(await device.inputValue(), name);
  assert.equal(await query(page), '?view=kernel');
});

pageTest('a format that the device cannot compute is listed with the reason', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await pick(page, 'weights', 'fp64');
  const table = await readTable(page);
  assert.match(table.FP64.refused, /no fp64 peak/);
  assert.match(await verdict(page), /FP64 does not run here/);
  assert.match(await chosenRow(page), /^FP64/);
});

pageTest('a selected format is added to the table', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await pick(page, 'weights', 'q2_k');
  assert.match(await chosenRow(page), /^GGUF Q2_K/);
  assert.match(await query(page), /w=gguf_q2_k/);
});

pageTest('activations change the arithmetic that a format uses', {}, async (page) => {
  await openSite(page, '?d=h100_sxm&w=fp8_e4m3&m=4096');
  assert.match(await chosenRow(page), /as FP16|as BF16/);
  await pick(page, 'activations', 'fp8_e4m3');
  assert.doesNotMatch(await chosenRow(page), / as /);
});
