// The Trust view: its figures, its filter in the address, the chart by pointer and keyboard, its sources, and a failed fetch.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, withPage } from './harness.mjs';
import { canvasColors, plain, query, verdict } from './page.mjs';

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** Number of published rows; the page shows all of them. */
const published = readFileSync(new URL('../../../calc-core/validation/data/left-out.csv', import.meta.url), 'utf8').trimEnd().split('\n').length - 1;
const all = `${Math.floor(published / 1000)} ${String(published % 1000).padStart(3, '0')} rows`;
const open = async (page, more = '') => {
  await openSite(page, `?view=trust${more}`);
  await page.locator('main.trust').waitFor();
};
const line = async (page) => plain(await page.locator('.verdict p').innerText());
const said = async (page) => plain(await page.locator('.answer > [role="status"]').innerText());
const rows = (page) => page.locator('#rows tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
const errors = (page) => page.locator('#errors tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const choose = (page, id, value) => page.locator(`#${id}`).selectOption(value);

/** Rows of the table with this title in the docs, which the fit wrote. */
function ofDocs(title) {
  const tables = readFileSync(new URL('../../../docs/theory/accuracy-tables.md', import.meta.url), 'utf8').split('### ');
  const lines = tables.find((table) => table.startsWith(title)).split('\n').filter((row) => row.startsWith('| ') && !row.startsWith('| set'));
  return lines.map((row) => row.split('|').slice(1, -1).map((cell) => cell.trim())).filter(([set]) => !/batch.*tiers/.test(set));
}

pageTest('the view gives the accuracy of expected times, with the figures of the docs', {}, async (page) => {
  const fetched = [];
  page.on('request', (request) => fetched.push(request.url()));
  await openSite(page);
  assert.ok(!fetched.some((url) => /trust/.test(url)), 'nothing of it is fetched before somebody goes there');
  await page.getByRole('link', { name: 'Trust' }).click();
  await page.locator('main.trust').waitFor();
  assert.ok(fetched.some((url) => /trust/.test(url)));
  assert.match(await verdict(page), /^Decode with one sequence is within \d+ % half of the time, and within \d+ % nine times in ten, on rows that were left out of the fit\.$/);
  assert.match(await line(page), new RegExp(`^${all} of \\d+ devices; \\d+ % lie in their interval`));
  for (const [query, title] of [['', 'Left out: a board'], ['&fl=device', 'Left out: a device']]) {
    await open(page, query);
    const shown = await errors(page);
    const docs = ofDocs(title);
    assert.deepEqual(shown.map((row) => row.slice(0, 3).map(plain)), docs.map((row) => row.slice(0, 3)));
    for (const [index, row] of shown.entries()) {
      for (const column of [3, 4, 6, 7, 8]) {
        const [page, book] = [row, docs[index]].map((cells) => Number.parseFloat(cells[column]));
        assert.ok(Math.abs(page - book) <= 0.6, `${row[0]}: ${page} and ${book}`);
      }
    }
  }
});

pageTest('a filter applies to all parts, is in the address, and is undone by the back button', {}, async (page) => {
  await open(page);
  await choose(page, 'fs', 'prefill');
  await choose(page, 'fd', 'gb10');
  assert.equal(await query(page), '?view=trust&fs=prefill&fd=gb10&v=1');
  assert.match(await verdict(page), /^Prefill is within/);
  assert.equal((await errors(page)).length, 1);
  const shown = await rows(page);
  assert.ok(shown.length > 3 && shown.every(([what]) => what.includes('GB10')), JSON.stringify(shown[0]));
  await choose(page, 'ft', 'A');
  await choose(page, 'fe', 'llama.cpp');
  const narrow = (await rows(page)).length;
  assert.ok(narrow <= shown.length);
  await page.goBack();
  await page.goBack();
  assert.equal((await rows(page)).length, shown.length);
  assert.equal(await page.locator('#fe').inputValue(), '');
  await page.goBack();
  await page.goBack();
  assert.match(await line(page), new RegExp(`^${all}`));
});

pageTest('a link with every key sets every filter, and another view keeps it', {}, async (page) => {
  const link = '?view=trust&d=t4&fs=decode&fd=b200&fe=tensorrt-llm&ff=fp8_e4m3&ft=B&fl=device&v=1';
  await openSite(page, link);
  await page.locator('main.trust').waitFor();
  for (const [id, value] of new URLSearchParams(link)) {
    if (id.startsWith('f')) {
      assert.equal(await page.locator(`#${id}`).inputValue(), value, id);
    }
  }
  assert.equal(await page.locator('.notes li').count(), 0);
  await page.getByRole('link', { name: 'Kernel' }).click();
  await page.locator('tr.chosen').waitFor();
  await page.getByRole('link', { name: 'Trust' }).click();
  await page.locator('main.trust').waitFor();
  assert.equal(await query(page), link);
});

pageTest('an unknown filter value is named in a note, and a filter without rows shows a message', {}, async (page) => {
  await open(page, '&fd=toaster');
  assert.match(await page.locator('.notes li').innerText(), /fd=toaster, which no row has/);
  assert.match(await line(page), new RegExp(`^${all}`));
  await choose(page, 'fd', 't4');
  await choose(page, 'ff', 'nvfp4');
  assert.match(await verdict(page), /^No published row/);
  assert.equal((await rows(page)).length, 0);
});

pageTest('rows are sorted by their error, shown in batches, and link to their sources', {}, async (page) => {
  await open(page);
  const size = (row) => Math.abs(Number.parseFloat(row[3].replace('−', '-')));
  const first = await rows(page);
  assert.equal(first.length, 25);
  assert.deepEqual(first.map(size), first.map(size).sort((a, b) => b - a));
  await page.getByRole('button', { name: 'Show 100 more' }).click();
  assert.equal((await rows(page)).length, 125);
  const links = await page.locator('#rows a').evaluateAll((links) => links.map((link) => [link.href, link.target, link.rel]));
  assert.ok(links.every(([href, target, rel]) => /^https:\/\/[^ ]+$/.test(href) && target === '_blank' && rel.includes('noopener')), JSON.stringify(links[0]));
  await choose(page, 'fs', 'decode1');
  assert.equal((await rows(page)).length, 25, 'another filter begins with few again');
});

pageTest('arrow keys move through the rows by time, Enter opens the source, Escape clears the selection', {}, async (page) => {
  await page.addInitScript(() => { globalThis.open = (...all) => { (globalThis.opened ??= []).push(all); return null; }; });
  await open(page, '&fs=decode1');
  await page.locator('#chart').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => globalThis.opened), undefined, 'no row, no source');
  const unit = { µ: 1e-6, m: 1e-3, '': 1 };
  const measured = [];
  for (let step = 0; step < 6; step += 1) {
    await page.keyboard.press('ArrowRight');
    const [, number, prefix] = (await said(page)).match(/Measured ([\d.]+) ([µm]?)s, expected .* too (?:fast|slow); (?:in|outside of) the interval of /);
    measured.push(Number(number) * unit[prefix]);
  }
  assert.deepEqual(measured, [...measured].sort((a, b) => a - b));
  await page.keyboard.press('Enter');
  const [[address, target, features]] = await page.evaluate(() => globalThis.opened);
  assert.match(address, /^https:\/\//);
  assert.deepEqual([target, features], ['_blank', 'noopener,noreferrer']);
  await page.keyboard.press('Escape');
  assert.match(await said(page), /^Point at a mark/);
});

pageTest('the mark under the pointer is named, and a click opens its source', {}, async (page) => {
  await page.addInitScript(() => { globalThis.open = (...all) => { (globalThis.opened ??= []).push(all); return null; }; });
  await open(page, '&fd=t4');
  const box = await page.locator('canvas').boundingBox();
  const { colors: { '#cf6a08': orange } } = await canvasColors(page);
  assert.ok(orange?.pixels > 5, 'the one row has a mark');
  const ratio = await page.evaluate(() => devicePixelRatio);
  await page.mouse.move(box.x + orange.x / ratio, box.y + orange.y / ratio);
  assert.match(await said(page), /^Tesla T4|^T4/);
  await page.mouse.click(box.x + orange.x / ratio, box.y + orange.y / ratio);
  assert.equal((await page.evaluate(() => globalThis.opened)).length, 1);
});

pageTest('a click on a group with large errors shows its rows', {}, async (page) => {
  await open(page);
  const groups = page.locator('.limits li button');
  assert.equal(await groups.count(), 8);
  const name = await groups.first().innerText();
  await groups.first().click();
  const [what] = (await rows(page))[0];
  assert.ok(what.includes(name.split(', ')[0]), `${name} and ${what}`);
  assert.match(await query(page), /fs=.*fd=.*fe=/);
  await page.goBack();
  assert.equal(await page.locator('.limits ul').last().locator('li').count(), 7, 'rows above the roof');
  assert.match(await page.locator('.limits ul').last().innerText(), /uniform routing/);
});

test('offline, a message appears, and the other views still work', { timeout: 60_000 }, async () => {
  const problems = await withPage({}, async (page) => {
    await openSite(page);
    await page.route(/trust/, (route) => route.abort());
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByText('could not be fetched; try again when you are online').waitFor();
    await page.getByRole('link', { name: 'Kernel' }).click();
    await page.locator('tr.chosen').waitFor();
    await page.unroute(/trust/);
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.locator('main.trust').waitFor();
  });
  assert.deepEqual(problems.filter((problem) => !/trust|Failed to load resource|Failed to fetch/.test(problem)), []);
});

for (const width of [320, 390, 768, 1024, 1200, 1920]) {
  pageTest(`the Trust view is not wider than a window of ${width}`, { viewport: { width, height: 844 } }, async (page) => {
    await open(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
  });
}

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [wide, phone]) {
    pageTest(`axe finds no violation in the Trust view, ${viewport === wide ? 'wide' : 'phone'}, ${colorScheme}`, { colorScheme, viewport }, async (page) => {
      await loadAxe(page);
      await open(page, '&fd=toaster');
      if (viewport === phone) {
        await page.locator('.summary').click();
      }
      await assertAccessible(page);
    });
  }
}
