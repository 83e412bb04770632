// The rendered documents: read, searched by keyboard and accessible, from a sub-path of a plain server, with and without scripts.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, siteUrl } from './harness.mjs';
import { startPlain } from './servers.mjs';

let folder, server, root;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ridgepoint-'));
  await cp(process.env.RIDGEPOINT_SITE, join(folder, 'some/where'), { recursive: true });
  server = await startPlain(folder);
  root = `${server.url}some/where/`;
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const phone = { viewport: { width: 390, height: 844 } };
const pages = ['learn/', 'learn/glossary.html', 'learn/theory/expected.html', 'learn/guides/troubleshooting.html', 'docs/'];
const links = (page, name) => page.getByRole('navigation', { name }).getByRole('link');

pageTest('the page links to the documents, and they link back to its views by the same names', {}, async (page) => {
  await openSite(page);
  const names = await links(page, 'Views').allInnerTexts();
  await links(page, 'Views').filter({ hasText: 'Learn' }).click();
  await page.waitForURL(`${siteUrl}learn/`);
  assert.deepEqual(await links(page, 'Views').allInnerTexts(), names);
  for (const name of names.slice(0, -1)) {
    await links(page, 'Views').filter({ hasText: name }).click();
    await page.locator('main').waitFor();
    assert.equal(await page.locator('.top nav [aria-current=page]').innerText(), name);
    await page.waitForLoadState('networkidle'); // chunks of the view, which leaving would abort
    await page.goBack();
    await page.locator('article').waitFor();
  }
});

pageTest('from a sub-path, links lead from page to page and to equations', {}, async (page) => {
  await page.goto(`${root}learn/`);
  await page.getByRole('article').getByRole('link', { name: 'matrix products' }).click();
  await page.waitForURL(`${root}learn/theory/gemm.html`);
  assert.equal(await page.title(), 'Matrix products · Ridgepoint');
  assert.match(await page.locator('meta[name=description]').getAttribute('content'), /\w{3}/);
  await page.getByRole('link', { name: 'Next: Attention' }).click();
  await page.waitForURL(/attention\.html$/);
  assert.equal(await links(page, 'Contents').and(page.locator('[aria-current=page]')).innerText(), 'Attention');
  assert.equal(await page.locator('#eq-5 .number').textContent(), '(5)'); // MathML has no innerText
  await links(page, 'Contents').filter({ hasText: 'For developers' }).click();
  await page.waitForURL(`${root}docs/`);
});

pageTest('a fraction is drawn as one: the numerator stands above the denominator', {}, async (page) => {
  await page.goto(`${root}learn/theory/roofline.html`);
  const [above, below] = await page.locator('#eq-1 mfrac > *').evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().y));
  assert.ok(above + 8 < below, `${above} ${below}`);
  const [base, script] = await page.locator('#eq-2 msub > *').evaluateAll((parts) => parts.map((part) => parseFloat(getComputedStyle(part).fontSize)));
  assert.ok(script < base, `${script} ${base}`);
});

pageTest('the search is used by keyboard alone', {}, async (page) => {
  await page.goto(`${root}learn/theory/gemm.html`);
  await page.keyboard.press('/');
  await page.keyboard.type('kv cache');
  const results = page.locator('.results a');
  await results.first().waitFor();
  assert.match(await page.locator('[role=status]').innerText(), /^\d+ results/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const second = await results.nth(1).getAttribute('href');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), second);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
  for (let stop = 0; stop <= await results.count(); stop += 1) await page.keyboard.press('Tab');
  await page.locator('.results').waitFor({ state: 'hidden' });
  await page.keyboard.press('Shift+Tab');
  await results.first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.results').waitFor({ state: 'hidden' });
  await page.keyboard.type('tiles and waves');
  await results.filter({ hasText: 'Tiles and waves' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${root}learn/theory/tiling.html`);
});

pageTest('a search without a match says so, and letters of any kind are harmless', {}, async (page) => {
  await page.goto(`${root}learn/`);
  for (const text of ['xyzzyq', '<b>(', '\\ [', '*+?']) {
    await page.locator('#search').fill(text);
    await page.locator('.results li').first().waitFor();
  }
  await page.locator('#search').fill('xyzzyq');
  await page.locator('.results', { hasText: 'Nothing found' }).waitFor();
});

pageTest('without scripts the text is there, and the search is not', { javaScriptEnabled: false }, async (page) => {
  await page.goto(`${root}learn/theory/attention.html`);
  await page.getByRole('heading', { level: 1, name: 'Attention' }).waitFor();
  assert.equal(await page.locator('#search').isVisible(), false);
  assert.ok(await page.locator('mfrac').first().isVisible());
});

pageTest('the colors chosen on the page hold for the documents', { colorScheme: 'light' }, async (page) => {
  await openSite(page);
  await page.getByRole('button', { name: 'Dark colors' }).click();
  await page.goto(`${siteUrl}learn/`);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(20, 21, 23)');
});

for (const [size, options] of [['1440 wide', {}], ['390 wide', phone]]) {
  for (const colorScheme of ['light', 'dark']) {
    pageTest(`axe finds no violation in the documents, ${size}, ${colorScheme}`, { ...options, colorScheme }, async (page) => {
      await loadAxe(page);
      for (const path of pages) {
        await page.goto(root + path);
        await assertAccessible(page);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(beyond <= 0, `${path} scrolls sideways by ${beyond} px`);
      }
      await page.locator('#search').fill('memory');
      await page.locator('.results a').first().waitFor();
      await assertAccessible(page);
    });
  }
}

pageTest('a reader with a 32 px font gets larger text and no sideways scrolling', phone, async (page) => {
  await page.goto(`${root}learn/theory/memory.html`);
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '32px'));
  const [size, beyond] = await page.evaluate(() => [parseFloat(getComputedStyle(document.querySelector('article p')).fontSize), document.documentElement.scrollWidth - innerWidth]);
  assert.equal(size, 30);
  assert.ok(beyond <= 0, `${beyond} px`);
});
