// Two views share one state: links keep all of it, and the history covers both.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
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

// What the reader waits for beyond the landing, which has fetched its inspector by then.
const MOST_REQUESTS = 3;
const MOST_BYTES = 114_500; // after gzip; Device has 113,778: forms of several devices, kinds of jobs, later versions, which results count, orders of two jobs
const PLACES = [
  ['Compare', 'main.compare'],
  ['Explore', '.points tbody tr'],
  ['Kernel', 'main.kernel .limits'],
  ['Model', 'main.model .formats'],
  ['Device', 'main.measure'],
  ['Trust', 'main.trust #rows tbody tr'],
];

/** The files that a visitor to a place fetches over the network besides those of the landing, each with its bytes after gzip. */
async function furtherFiles(page, place, drawn) {
  await openSite(page);
  await page.locator('.inspector h2').first().waitFor();
  await page.waitForLoadState('networkidle');
  const fetched = [];
  page.on('requestfinished', (request) => fetched.push(request));
  await link(page, place).click();
  await page.locator(drawn).first().waitFor({ timeout: 50_000 });
  for (let seen = -1; seen < fetched.length; await page.waitForTimeout(500)) seen = fetched.length;
  const files = await Promise.all(fetched.map(async (request) => {
    const [{ responseBodySize }, response] = [await request.sizes(), await request.response()];
    // Nothing is transferred of what the browser has kept, which the worker asks for again.
    return responseBodySize > 0 && { path: new URL(request.url()).pathname, bytes: gzipSync(await response.body()).length };
  }));
  return files.filter((file) => file && !file.path.startsWith('/icon-'));
}

for (const [place, drawn] of PLACES) {
  pageTest(`${place} costs at most ${MOST_REQUESTS} requests and ${MOST_BYTES} bytes more than the landing`, {}, async (page) => {
    const files = await furtherFiles(page, place, drawn);
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    console.log(`${place}: ${files.length} requests, ${total} bytes after gzip`);
    // Compare requests nothing: the inspector of Plan has loaded its chunks.
    assert.equal(files.length > 0, place !== 'Compare', 'requests are counted');
    assert.ok(files.length <= MOST_REQUESTS && total <= MOST_BYTES, files.map(({ path, bytes }) => `${path} ${bytes}`).join(', '));
  });
}
