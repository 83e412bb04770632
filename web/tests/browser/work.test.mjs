// Show the work: every formula with this reader's numbers, as MathML that follows the inputs.
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
  await openSite(page);
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

pageTest('a format that does not run has no formulas, and says why', {}, async (page) => {
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
