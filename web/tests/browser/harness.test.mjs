// Tests of the checkers: each must reject a page with its kind of fault, and accept a sound one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { siteUrl, withPage } from './harness.mjs';

/** HTML of a small, sound page with the given parts. */
const html = ({ head = '', body = '' }) =>
  `<!doctype html><html lang="en"><head>${head}<title>Sound</title><link rel="icon" href="data:,"></head><main><h1>Sound</h1>${body}</main>`;
const head = `<meta http-equiv="Content-Security-Policy" content="script-src 'self'; style-src 'self'">`;

const broken = [
  ['an inline script', { head, body: '<script>1</script>' }, /violates .*Content Security Policy directive.*script-src/],
  ['an inline style', { head, body: '<p style="color: red">' }, /violates .*Content Security Policy directive.*style-src/],
  ['a missing file', { body: '<img src="missing.png" alt="">' }, /^404: .*missing\.png$/],
  ['an exception', { body: '<script>throw new Error("on purpose")</script>' }, /^exception: on purpose$/],
  ['an error on the console', { body: '<script>console.error("on purpose")</script>' }, /^console: on purpose$/],
];

/** Opens a page of these parts at an address of the site. */
async function openMadeUp(page, parts) {
  const url = `${siteUrl}made-up`;
  await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body: html(parts) }));
  await page.goto(url, { waitUntil: 'networkidle' });
}

test('a sound page has no problems', async () => {
  const problems = await withPage({}, async (page) => {
    await loadAxe(page);
    await openMadeUp(page, {});
    await assertAccessible(page);
  });
  assert.deepEqual(problems, []);
});

for (const [name, parts, pattern] of broken) {
  test(`${name} is a problem`, async () => {
    const problems = await withPage({}, (page) => openMadeUp(page, parts));
    assert.ok(problems.some((problem) => pattern.test(problem)), `found only ${JSON.stringify(problems)}`);
  });
}

const slow = (page) => page.route('**/slow', () => {}); // never answered
const fetchSlow = (page, more) => page.evaluate((more) => {
  const control = new AbortController();
  fetch('slow', { signal: control.signal }).catch(() => {});
  if (more) setTimeout(() => control.abort(), 50);
}, more);

test('a request that the page itself aborts is a problem', async () => {
  const problems = await withPage({}, async (page) => {
    await slow(page);
    await openMadeUp(page, {});
    const failed = page.waitForEvent('requestfailed');
    await fetchSlow(page, true);
    await failed;
  });
  assert.ok(problems.some((problem) => /slow net::ERR_ABORTED/.test(problem)), JSON.stringify(problems));
});

test('a request aborted by leaving the page is no problem', async () => {
  const problems = await withPage({}, async (page) => {
    await slow(page);
    await openMadeUp(page, {});
    const failed = page.waitForEvent('requestfailed');
    await fetchSlow(page, false);
    await openMadeUp(page, {});
    await failed;
  });
  assert.deepEqual(problems, []);
});

test('an image without a text alternative is inaccessible', async () => {
  await withPage({}, async (page) => {
    await loadAxe(page);
    await openMadeUp(page, { body: '<img src="data:,">' });
    await assert.rejects(assertAccessible(page), /image-alt/);
  });
});
