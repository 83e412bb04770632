// Two views share one state: links keep all of it, and the history covers both.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { pick, query, readTable, type } from './page.mjs';

const link = (page, name) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });

pageTest('the views share device and mode, and the back button returns to the first view', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await pick(page, 'device', 'agx orin 64');
  await page.locator('#mode').selectOption('MAXN');
  await type(page, 'm', '16');
  const [kernel, table] = [await query(page), await readTable(page)];
  await link(page, 'Model').click();
  await page.locator('main.model').waitFor();
  assert.equal(await query(page), kernel.replace('?', '?view=model&'));
  assert.equal(await link(page, 'Model').getAttribute('aria-current'), 'page');
  assert.equal(await link(page, 'Kernel').getAttribute('aria-current'), null);

  await page.reload();
  await page.locator('main.model').waitFor();
  await page.goBack();
  await page.locator('main.kernel').waitFor();
  assert.equal(await query(page), kernel);
  assert.deepEqual(await readTable(page), table);
  await page.goForward();
  await page.locator('main.model').waitFor();
  await link(page, 'Kernel').click();
  assert.deepEqual(await readTable(page), table);
});

pageTest('a link to a view has the complete state and can be opened elsewhere', {}, async (page) => {
  await openSite(page, '?d=t4&m=64');
  const href = await link(page, 'Model').getAttribute('href');
  assert.equal(href, '?view=model&d=t4&m=64&v=1');
  await page.goto(new URL(href, page.url()).href);
  await page.locator('main.model').waitFor();
});

pageTest('an unknown view is named in a note', {}, async (page) => {
  await openSite(page, '?view=table');
  assert.match(await page.locator('.notes').innerText(), /view=table/);
  await page.locator('main.plan').waitFor();
});

pageTest('switching views keeps the invalid text of a field', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#m').fill('12x');
  await link(page, 'Model').click();
  await link(page, 'Kernel').click();
  assert.equal(await page.locator('#m').inputValue(), '12x');
  assert.equal(await page.locator('#m').getAttribute('aria-invalid'), 'true');
});
