// Exports: files that agree with the page, the link, and print.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { number, plain, readTable, verdict } from './page.mjs';

const open = (page) => page.getByRole('button', { name: 'Export' }).click();

/** Exports one kind of file and returns its name and content. */
async function saved(page, kind) {
  await open(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind, exact: true }).click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

pageTest('the program that writes files is fetched for the first file', {}, async (page) => {
  const fetched = [];
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await openSite(page, '?view=kernel');
  await open(page);
  assert.ok(!fetched.some((path) => path.includes('reader')));
  await page.keyboard.press('Escape');
  await saved(page, 'CSV');
  assert.equal(fetched.filter((path) => path.endsWith('.wasm') && path.includes('reader')).length, 1);
  await saved(page, 'CSV');
  assert.equal(fetched.filter((path) => path.endsWith('.wasm') && path.includes('reader')).length, 1, 'once');
});

pageTest('CSV, JSON and Markdown agree with the table', {}, async (page) => {
  await openSite(page, '?d=t4&m=16&w=int8');
  const { cells } = (await readTable(page)).INT8;
  const csv = await saved(page, 'CSV');
  assert.equal(csv.name, 'ridgepoint-t4-gemm.csv');
  const row = csv.content.toString().split('\n').find((line) => line.startsWith('int8,')).split(',');
  const json = JSON.parse((await saved(page, 'JSON')).content);
  assert.equal(Number(row[4]), json.ideal_s);
  assert.deepEqual([json.schema, json.hardware.key, json.precision.weights], [1, 't4', 'int8']);
  assert.ok(Math.abs(number(cells[2]) / json.ideal_s - 1) < 0.0051);
  const markdown = plain((await saved(page, 'Markdown')).content.toString());
  assert.ok(markdown.includes(await verdict(page)) && markdown.includes(cells[2]), markdown);
});

pageTest('SVG and PNG files are valid images', {}, async (page) => {
  await openSite(page, '?pt=mine~3~0.2');
  const svg = (await saved(page, 'SVG')).content.toString();
  assert.match(svg, /^<svg /);
  for (const name of ['FP16', 'INT4 g128', 'mine']) {
    assert.ok(svg.includes(name), `${name} is not in the picture`);
  }
  const png = await saved(page, 'PNG');
  assert.equal(png.name, 'ridgepoint-jetson_orin_nano_8gb_super-gemm.png');
  assert.deepEqual([...png.content.subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join(''), 'PNG');
});

pageTest('the link is copied to the clipboard', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await openSite(page, '?d=t4&m=16');
  await open(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('d=t4'));
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
});

pageTest('a note appears when the browser denies copying', {}, async (page) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('forbidden')) } });
  });
  await openSite(page, '?view=kernel');
  await open(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('the address of the window is the link').waitFor();
});

for (const viewport of [{ width: 1440, height: 900 }, { width: 320, height: 700 }]) {
  pageTest(`the menu works by keyboard and fits a window of ${viewport.width}`, { viewport }, async (page) => {
    await loadAxe(page);
    await openSite(page, '?view=kernel');
    await page.getByRole('button', { name: 'Export' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy link' }).waitFor();
    await assertAccessible(page);
    const box = await page.locator('#export-menu').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box));
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#export-menu').isVisible(), false);
  });
}

pageTest('the print has no buttons and shows everything', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.emulateMedia({ media: 'print' });
  for (const selector of ['.tools', '.presets', '.open-file']) {
    assert.equal(await page.locator(selector).isVisible(), false, selector);
  }
  assert.ok(await page.locator('table.formats').isVisible());
  const clipped = await page.evaluate(() => [...document.querySelectorAll('.inputs, .answer, aside.limits')].filter((element) => element.scrollHeight > element.clientHeight + 1).length);
  assert.equal(clipped, 0);
});

pageTest('the Model view saves its operators, its answer and the recommendation', {}, async (page) => {
  await openSite(page, '?view=model&d=h100_sxm&batch=8');
  const csv = await saved(page, 'CSV');
  assert.equal(csv.name, 'ridgepoint-h100_sxm-llama-3.1-8b.csv');
  const rows = csv.content.toString().trim().split('\n').map((line) => line.split(','));
  const shown = await page.locator('.operators tbody tr').count();
  assert.equal(rows.length - 1, shown, 'a row for each of the tables');
  const json = JSON.parse((await saved(page, 'JSON')).content);
  assert.deepEqual([json.schema, json.hardware.key, json.model.key, json.workload.batch], [1, 'h100_sxm', 'llama-3.1-8b', 8]);
  const decode = rows.filter((row) => row[0] === 'decode').reduce((sum, row) => sum + Number(row[9]), 0);
  assert.ok(Math.abs(decode / json.decode.ideal_s - 1) < 1e-9);
  const markdown = plain((await saved(page, 'Markdown')).content.toString());
  assert.match(markdown, /^# Llama-3\.1 8B on H100 SXM/);
  const advice = await saved(page, 'JSON of the advice');
  assert.equal(advice.name, 'ridgepoint-h100_sxm-llama-3.1-8b.advice.json');
  const { ranked, goal } = JSON.parse(advice.content);
  assert.equal(goal.phase, 'whole');
  assert.ok(ranked.length > 3);
});

pageTest('the Model view saves its chart', {}, async (page) => {
  await openSite(page, '?view=model&d=h100_sxm');
  assert.match((await saved(page, 'SVG')).content.toString(), /^<svg [\s\S]*[GT]B\/s/);
  const png = await saved(page, 'PNG');
  assert.equal(png.name, 'ridgepoint-h100_sxm-llama-3.1-8b.png');
  assert.equal(png.content.subarray(1, 4).toString(), 'PNG');
});
