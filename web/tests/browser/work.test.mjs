// Show the work: every formula with the present values, as MathML that follows the inputs.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { plain, type } from './page.mjs';

const open = async (page) => {
  await page.getByText('Show the work').click();
  await page.locator('.work math').first().waitFor();
};
const said = async (page) => plain((await page.locator('.work > div').textContent()).replaceAll(/\s+/g, ' '));

pageTest('the formulas have the values of the inputs and follow them', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?view=kernel');
  await open(page);
  const titles = (await page.locator('.work h3').allTextContents()).map(plain);
  assert.deepEqual(titles, ['FLOP', 'Weights', 'Activations', 'Bytes', 'Arithmetic intensity', 'Ridge', 'Time for DRAM', 'Time for arithmetic', 'Ideal time', 'Expected time']);
  assert.match(await said(page), /33\.6 MFLOP/);
  await assertAccessible(page);
  await type(page, 'm', '2');
  await page.waitForFunction(() => document.querySelector('.work > div').textContent.includes('67.1'));
  await page.locator('#m').fill('x');
  await page.waitForTimeout(100);
  assert.match(await said(page), /67\.1 MFLOP/, 'a wrong field keeps the last good formulas');
});

for (const [operator, expected] of [['attention', /KV cache/], ['moe', /part by part/], ['norm', /4.*T.*H/], ['kv_append', /b.*kv/]]) {
  pageTest(`${operator} shows its own formulas`, {}, async (page) => {
    await openSite(page, `?op=${operator}`);
    await open(page);
    assert.match(await said(page), expected);
    assert.ok((await page.locator('.work math').count()) >= 8);
  });
}

pageTest('a format that does not run has no formulas, and shows the reason', {}, async (page) => {
  await openSite(page, '?w=fp64');
  await page.getByText('Show the work').click();
  await page.locator('.work p').waitFor();
  assert.match(await said(page), /FP64 does not run here: .*fp64 peak/);
});

pageTest('the formulas fit on a phone', { viewport: { width: 390, height: 844 } }, async (page) => {
  await openSite(page, '?op=moe');
  await open(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
});

const openTiles = async (page) => {
  await page.locator('summary', { hasText: 'Tiles and waves' }).click();
  await page.locator('.tiles > div > p').waitFor();
};
const tiles = (page) => page.locator('.tiles tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

pageTest('the tiles of a matrix product are ranked, and follow its shape', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?d=a100_80gb_sxm&m=4096&w=fp16');
  await openTiles(page);
  assert.match(plain(await page.locator('.tiles p').innerText()), /^Best: \d+ × \d+ × \d+ with \d stages; stages need .* of shared memory/);
  const heads = await page.locator('.tiles th').allInnerTexts();
  assert.deepEqual(heads, ['tile', 'stages', 'runs', 'tiles', 'waves', 'time from', 'wave eff.', 'tile eff.', 'traffic from', 'to', 'wave in L2']);
  const rows = await tiles(page);
  assert.ok(rows.length > 5 && rows.every((row) => row.length === heads.length && !row.includes('unknown')), JSON.stringify(rows));
  const first = rows.findIndex((row) => row[2] !== 'yes');
  assert.ok(first === -1 || rows.slice(first).every((row) => row[2].startsWith('no: ')), 'what does not run comes last, with the reason');
  await assertAccessible(page);
  await type(page, 'm', '1');
  await page.waitForFunction((before) => document.querySelector('.tiles tbody td:nth-child(4)').textContent !== before, rows[0][3]);
});

pageTest('unpublished facts of a device are unknown in its tiles', {}, async (page) => {
  await openSite(page, '?d=tpu_v5e&w=bf16');
  await openTiles(page);
  assert.ok((await tiles(page)).every((row) => row.filter((cell) => cell === 'unknown').length >= 3));
});

pageTest('an operator that is no matrix product has no tiles', { viewport: { width: 390, height: 844 } }, async (page) => {
  await openSite(page, '?op=attention');
  assert.equal(await page.locator('.tiles').isVisible(), false);
  await openSite(page, '?view=kernel');
  await openTiles(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
});
