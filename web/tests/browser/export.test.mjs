// Exports: files that agree with the page, the link, and print.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { number, places, plain, readTable, verdict } from './page.mjs';

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

/** Width of A4 within the margins of `paper.css` [px]. */
const PAPER_WIDTH = 703;

/** Opens a place and does what the browser does before it prints. */
async function openForPrint(page, link) {
  await openSite(page, link);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
}

/** Lays the charts out for paper, as soon as the code for it is there: it comes with the view, in Plan a moment later. */
const readyForPaper = (page, charts) => page.waitForFunction((charts) => {
  dispatchEvent(new Event('beforeprint'));
  return document.querySelectorAll('.chart > .paper svg').length === charts;
}, charts);

pageTest('paper is white and has every chart as SVG, no navigation and nothing that is operated', { colorScheme: 'dark' }, async (page) => {
  for (const [name, [link, charts]] of Object.entries(places)) {
    await openForPrint(page, link);
    await readyForPaper(page, charts);
    const seen = await page.evaluate(() => ({
      operated: [...document.querySelectorAll('nav, input, select, .tool, .chip:not(:is(.room, .impasse) *), canvas')].filter((element) => element.checkVisibility()).map((element) => element.outerHTML),
      white: [...document.querySelectorAll('body, .card, .paper svg > rect:first-of-type')].every((element) => /rgb\(255, 255, 255\)|rgba\(0, 0, 0, 0\)/.test(getComputedStyle(element).backgroundColor)),
      grounds: [...document.querySelectorAll('.paper svg > rect:first-of-type')].map((ground) => ground.getAttribute('fill')),
      wide: [...document.querySelectorAll('.paper svg')].every((svg) => svg.getBoundingClientRect().width > 300),
      hidden: [...document.querySelectorAll('main, main section, main aside, .scroll')].filter((element) => element.scrollHeight > element.clientHeight + 2 && getComputedStyle(element).overflowY !== 'visible').length,
    }));
    assert.deepEqual(seen.operated, [], name);
    assert.ok(seen.white && seen.wide, name);
    assert.ok(seen.grounds.every((ground) => ground === '#FFFFFF'), `${name}: ${seen.grounds}`);
    assert.equal(seen.hidden, 0, `${name} hides text`);
    await page.setViewportSize({ width: PAPER_WIDTH, height: 1000 });
    const beyond = await page.evaluate(() => [...document.querySelectorAll('th, td, p, li, h2')].filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.innerText));
    assert.deepEqual(beyond, [], `${name} is wider than the paper`);
    const formulas = await page.locator('.formula:visible').count();
    if (name === 'plan' || name === 'model') assert.ok(formulas >= 2, `${name} has ${formulas} formulas`);
    if (charts > 0) assert.equal(await page.locator('.address').innerText(), page.url());
  }
});

pageTest('the Print item prints the formulas of the operator, and Ctrl+P does too', {}, async (page) => {
  await page.addInitScript(() => {
    globalThis.printed = [];
    globalThis.print = () => {
      dispatchEvent(new Event('beforeprint'));
      printed.push([document.querySelectorAll('.work.paper math').length, document.querySelectorAll('.chart > .paper svg').length]);
      dispatchEvent(new Event('afterprint'));
    };
  });
  await openSite(page, '?view=kernel');
  await open(page);
  await page.getByRole('button', { name: 'Print', exact: true }).click();
  await page.waitForFunction(() => printed.length === 1);
  await page.keyboard.press('Control+p');
  await page.waitForFunction(() => printed.length === 2);
  const printed = await page.evaluate(() => globalThis.printed);
  assert.ok(printed.every(([formulas, charts]) => formulas > 5 && charts === 1), JSON.stringify(printed));
  assert.equal(await page.locator('.paper').count(), 0, 'nothing of it stays');
});

pageTest('on paper every card explains itself', {}, async (page) => {
  await openForPrint(page, '?view=plan');
  await page.locator('.on-paper').waitFor();
  const cards = await page.locator('.card h2').allInnerTexts();
  assert.equal(await page.locator('.on-paper .formula').count(), cards.length);
  assert.equal(await page.locator('.on-screen').isVisible(), false);
});

pageTest('a chart is saved with title, scenario, legend and link, each chart by its name', {}, async (page) => {
  await openSite(page, '?view=plan&d=h100_sxm&batch=4');
  for (const [chart, mark] of [['Schemes by time and loss', 'GGUF'], ['Operators on the roofline', 'GB/s']]) {
    const svg = await saved(page, `${chart}, SVG`);
    const text = plain(svg.content.toString());
    assert.equal(svg.name, `ridgepoint-h100_sxm-llama-3.1-8b.${chart.toLowerCase().replaceAll(' ', '-')}.svg`);
    for (const part of [chart, 'Llama-3.1 8B on 1 × H100 SXM', '4 users', 'batch=4', mark]) {
      assert.ok(text.includes(part), `${part} is not in ${chart}`);
    }
    assert.match(text, /expected · line: interval|area: share/);
    const png = await saved(page, `${chart}, PNG`);
    assert.ok(png.content.readUInt32BE(16) === 1920 && png.content.readUInt32BE(20) > 1200, 'width and height');
  }
});

pageTest('a comparison is saved with what it shows', {}, async (page) => {
  await openSite(page, places.compare[0]);
  await page.locator('.compared').waitFor();
  const rate = plain(await page.locator('.compared tr', { has: page.getByRole('rowheader', { name: 'Decode rate', exact: true }) }).locator('td').first().innerText()).match(/^[\d.]+ token\/s/)[0];
  const svg = await saved(page, 'SVG');
  assert.equal(svg.name, 'ridgepoint-compare.svg');
  for (const part of ['Times', 'H100 SXM', 'users', 'mark: expected', 'c=d:']) {
    assert.ok(plain(svg.content.toString()).includes(part), part);
  }
  for (const kind of ['CSV', 'Markdown', 'JSON']) {
    assert.ok(plain((await saved(page, kind)).content.toString()).includes(rate), `${kind}: ${rate}`);
  }
});

pageTest('the Model view saves its operators, its answer and the recommendation', {}, async (page) => {
  await openSite(page, '?view=model&d=h100_sxm&batch=8');
  const csv = await saved(page, 'CSV');
  assert.equal(csv.name, 'ridgepoint-h100_sxm-llama-3.1-8b.csv');
  const rows = csv.content.toString().trim().split('\n').map((line) => line.split(','));
  const shown = await page.locator('.operators tbody tr:not(.part)').count();
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
  assert.match((await saved(page, 'Operators on the roofline, SVG')).content.toString(), /^<svg [\s\S]*[GT]B\/s/);
  const png = await saved(page, 'Against batch, PNG');
  assert.equal(png.name, 'ridgepoint-h100_sxm-llama-3.1-8b.against-batch.png');
  assert.equal(png.content.subarray(1, 4).toString(), 'PNG');
});
