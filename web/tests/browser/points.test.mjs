// User-defined points: typed or pasted, on the chart, in a table, in the address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, withPage } from './harness.mjs';
import { plain, query } from './page.mjs';

const rows = (page) => page.locator('.own-points tbody tr');

/** Opens table and form, which are loaded by the click. */
async function unfold(page) {
  if (!(await page.locator('#points').isVisible())) {
    await page.locator('.own-points summary').click();
    await page.locator('#points').waitFor();
  }
}

async function add(page, text) {
  await unfold(page);
  await page.locator('#points').fill(text);
  await page.locator('.own-points').getByRole('button', { name: 'Add' }).click();
}

pageTest('points are added, kept by a reload, and removed', {}, async (page) => {
  await loadAxe(page);
  await openSite(page, '?view=kernel');
  await add(page, 'mine, 3.8, 0.3\npasted\t100\t9.5');
  assert.equal(await rows(page).count(), 2);
  assert.equal(await query(page), '?pt=mine~3.8~0.3~pasted~100~9.5&v=1');
  await assertAccessible(page);
  await page.reload();
  await page.locator('main').waitFor();
  await unfold(page);
  assert.equal(await rows(page).count(), 2);
  assert.match(plain(await rows(page).nth(0).textContent()), /mine.*3\.80 FLOP\/B · 0\.300 TFLOP\/s/);
  await page.getByRole('button', { name: 'Remove mine' }).click();
  assert.equal(await query(page), '?pt=pasted~100~9.5&v=1');
  await page.goBack();
  assert.equal(await rows(page).count(), 2);
});

pageTest('a point above the roof has a warning, which the chart gives by keyboard, too', {}, async (page) => {
  await openSite(page, '?pt=fast~1~0.5~slow~1~0.05');
  await unfold(page);
  assert.match(await rows(page).nth(0).textContent(), /Likely reasons: .*cache/);
  assert.doesNotMatch(await rows(page).nth(1).textContent(), /Likely/);
  await page.locator('#chart').focus();
  await page.keyboard.press('End');
  assert.match(plain(await page.locator('.chart [role=status]').innerText()), /^slow: 1\.00 FLOP\/B/);
});

pageTest('invalid lines stay in the field, with a message on the expected form', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await add(page, 'good,1,0.01\nbad,0,1\nworse');
  assert.equal(await rows(page).count(), 1);
  assert.equal(await page.locator('#points').inputValue(), 'bad,0,1\nworse');
  assert.match(await page.locator('#points-message').innerText(), /two numbers from/);
  await add(page, 'x'.repeat(20_000));
  assert.equal(await rows(page).count(), 1);
});

for (const bad of ['a~1', 'a~1~x', '~'.repeat(5000), 'a~1~2~'.repeat(500)]) {
  pageTest(`invalid points ${bad.slice(0, 10)} in an address are named in a note and ignored`, {}, async (page) => {
    await openSite(page, `?pt=${bad}`);
    assert.match(await page.locator('.notes').innerText(), /no points/);
    await unfold(page);
    assert.equal(await rows(page).count(), 0);
  });
}

pageTest('points and goal of an address apply before their sections are opened', {}, async (page) => {
  const fetched = [];
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await openSite(page, '?pt=mine~1~0.05&loss=0.5');
  await page.locator('#chart').focus();
  await page.keyboard.press('End');
  assert.match(plain(await page.locator('.chart [role=status]').innerText()), /^mine: /);
  assert.equal(await page.locator('.advice .choice').innerText(), 'GGUF Q6_K');
  assert.ok(!fetched.some((path) => path.includes('more')));
  await page.locator('.goal summary').click();
  await page.locator('#loss').waitFor();
  assert.equal(await page.locator('#loss').inputValue(), '0.5');
  assert.ok(fetched.some((path) => path.includes('split_more')));
  await page.locator('#loss').fill('x');
  await page.getByText('Quality loss must be a number from 0 on, or empty.').waitFor();
});

// This is not a `pageTest`, because the browser reports the failed fetch.
test('offline, a part that is not loaded shows a message, and loads on the next try', async () => {
  await withPage({}, async (page) => {
    await openSite(page, '?view=kernel');
    await page.route('**/*split_more*', (route) => route.abort());
    await page.getByRole('button', { name: 'Export' }).click();
    await page.locator('#export-menu').getByText('could not be fetched').waitFor();
    await page.unroute('**/*split_more*');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'Copy link' }).waitFor();
  });
});
