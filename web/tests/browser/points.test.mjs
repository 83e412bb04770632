// Points of the reader's own: typed or pasted, on the chart, in a table, in the address.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { plain, query } from './page.mjs';

const rows = (page) => page.locator('.own-points tbody tr');

async function add(page, text) {
  if (!(await page.locator('#points').isVisible())) {
    await page.locator('.own-points summary').click();
  }
  await page.locator('#points').fill(text);
  await page.locator('.own-points').getByRole('button', { name: 'Add' }).click();
}

pageTest('points are added, kept by a reload, and removed', {}, async (page) => {
  await loadAxe(page);
  await openSite(page);
  await add(page, 'mine, 3.8, 0.3\npasted\t100\t9.5');
  assert.equal(await rows(page).count(), 2);
  assert.equal(query(page), '?pt=mine~3.8~0.3~pasted~100~9.5&v=1');
  await assertAccessible(page);
  await page.reload();
  await page.locator('main').waitFor();
  assert.equal(await rows(page).count(), 2);
  assert.match(plain(await rows(page).nth(0).textContent()), /mine.*3\.80 FLOP\/B · 0\.300 TFLOP\/s/);
  await page.locator('.own-points summary').click();
  await page.getByRole('button', { name: 'Remove mine' }).click();
  assert.equal(query(page), '?pt=pasted~100~9.5&v=1');
  await page.goBack();
  assert.equal(await rows(page).count(), 2);
});

pageTest('a point above the roof is warned about, and the chart says it by keyboard', {}, async (page) => {
  await openSite(page, '?pt=fast~1~0.5~slow~1~0.05');
  assert.match(await rows(page).nth(0).textContent(), /Likely reasons: .*cache/);
  assert.doesNotMatch(await rows(page).nth(1).textContent(), /Likely/);
  await page.locator('#chart').focus();
  await page.keyboard.press('End');
  assert.match(plain(await page.locator('.chart [role=status]').innerText()), /^slow: 1\.00 FLOP\/B/);
});

pageTest('lines that are no points stay, with what is expected', {}, async (page) => {
  await openSite(page);
  await add(page, 'good,1,0.01\nbad,0,1\nworse');
  assert.equal(await rows(page).count(), 1);
  assert.equal(await page.locator('#points').inputValue(), 'bad,0,1\nworse');
  assert.match(await page.locator('#points-message').innerText(), /two numbers from/);
  await add(page, 'x'.repeat(20_000));
  assert.equal(await rows(page).count(), 1);
});

for (const bad of ['a~1', 'a~1~x', '~'.repeat(5000), 'a~1~2~'.repeat(500)]) {
  pageTest(`points of ${bad.slice(0, 10)} in an address are named and left out`, {}, async (page) => {
    await openSite(page, `?pt=${bad}`);
    assert.match(await page.locator('.notes').innerText(), /no points/);
    assert.equal(await rows(page).count(), 0);
  });
}
