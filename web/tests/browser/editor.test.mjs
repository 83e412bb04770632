// User-defined device: edited as a copy, checked field by field, saved as the file that the command line loads.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { number, plain, readTable } from './page.mjs';

const open = async (page) => {
  await page.getByRole('button', { name: /^Edit/ }).click();
  await page.getByRole('dialog').waitFor();
};
const badge = (page, id) => page.locator(`.editor label[for=${id}] .badge`).textContent();

pageTest('a copy is edited, every number shows its origin, and a reload keeps it', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?d=t4');
  const before = await readTable(page);
  await open(page);
  await assertAccessible(page);
  assert.equal(await page.locator('#bandwidth_gb_s').inputValue(), '320');
  const catalogs = await badge(page, 'bandwidth_gb_s');
  assert.ok(['datasheet', 'from memory', 'derived'].includes(catalogs), catalogs);
  await page.locator('#bandwidth_gb_s').fill('640');
  assert.equal(await badge(page, 'bandwidth_gb_s'), 'yours');
  await page.waitForURL(/#s=/);
  const { hash } = new URL(page.url());
  await page.locator('#own-name').fill('Twice a T4');
  await page.getByRole('button', { name: 'Close' }).click();
  const after = await readTable(page);
  assert.ok(Math.abs(number(before.FP16.cells[2]) / number(after.FP16.cells[2]) - 2) < 0.01);
  assert.match(await page.locator('aside.limits').textContent(), /DRAM\s*640.GB\/s\s*yours/);
  await page.evaluate(() => document.querySelectorAll('aside.limits details').forEach((details) => { details.open = true; }));
  await page.locator('#fact-0').focus();
  assert.equal(await page.locator('#explanation .badge').innerText(), 'yours');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#device').inputValue(), 'Twice a T4');
  await page.waitForFunction((hash) => location.hash !== hash, hash);
  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual(await readTable(page), after);
  assert.match(await page.locator('aside.limits').textContent(), /yours/);
  assert.match(await page.locator('aside.limits').textContent(), /datasheet|from memory/);
});

for (const [id, wrong, says] of [
  ['bandwidth_gb_s', '0', /DRAM bandwidth must be from 0\.001 to 10000000.GB\/s\./],
  ['memory_gib', '-4', /Memory must be from/],
  ['dense_peaks_tflops-fp16', '1e99', /FP16 must be from/],
  ['sm_count', '1.5', /SMs must be a whole number/],
  ['tdp_w', 'hot', /must be a number/],
  ['bandwidth_gb_s', '', /DRAM bandwidth must be from/],
]) {
  pageTest(`${id} = '${wrong}' is marked, and the last valid device stays`, {}, async (page) => {
    await openSite(page, '?d=t4');
    await open(page);
    const table = await readTable(page);
    await page.locator(`#${id}`).fill(wrong);
    assert.equal(await page.locator(`#${id}`).getAttribute('aria-invalid'), 'true');
    assert.match(plain(await page.locator(`#${id}-message`).innerText()), says);
    assert.equal(await page.locator('.editor [aria-invalid=true]').count(), 1);
    assert.deepEqual(await readTable(page), table);
  });
}

pageTest('the command line loads the saved file and gives the same answer', {}, async (page) => {
  await openSite(page, '?w=fp16');
  await open(page);
  await page.locator('#bandwidth_gb_s').fill('150.5');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download device file' }).click()]);
  assert.equal(download.suggestedFilename(), 'jetson_orin_nano_8gb_super_copy.json');
  const path = `${await download.path()}.json`;
  await download.saveAs(path);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).bandwidth_gb_s, 150.5);
  const asked = ['analyze', '--hardware', path, '-m', '1', '-n', '4096', '-k', '4096', '--weights', 'fp16', '-o', 'json'];
  const answer = JSON.parse(execFileSync(process.env.RIDGEPOINT_BIN, asked, { encoding: 'utf8' }));
  const { cells } = (await readTable(page)).FP16;
  assert.ok(Math.abs(number(cells[2]) / answer.ideal_s - 1) < 0.0051);
  await page.getByRole('button', { name: 'Close' }).click();
  await openSite(page, '?view=kernel');
  await page.locator('#file').setInputFiles(path);
  await page.waitForURL(/#s=/);
  assert.deepEqual((await readTable(page)).FP16.cells, cells, 'the page opens what it saved');
});

pageTest('the form fits on a phone and closes by keyboard', { viewport: { width: 390, height: 844 } }, async (page) => {
  await loadAxe(page);
  await openSite(page, '?view=kernel');
  await page.locator('.summary').click();
  await open(page);
  await assertAccessible(page);
  const box = await page.getByRole('dialog').boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});
