// The checkers are tested too: each must reject a page that is broken in its way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { siteUrl, withPage } from './harness.mjs';

const policy = `<meta http-equiv="Content-Security-Policy" content="script-src 'self'; style-src 'self'">`;

const broken = {
  'an inline script': `${policy}<script>1</script>`,
  'an inline style': `${policy}<p style="color: red">`,
  'a missing file': '<img src="missing.png">',
  'an exception': '<script>throw new Error("on purpose")</script>',
  'an error on the console': '<script>console.error("on purpose")</script>',
};

for (const [name, html] of Object.entries(broken)) {
  test(`${name} is a problem`, async () => {
    const problems = await withPage({}, async (page) => {
      await page.route(`${siteUrl}broken`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
      await page.goto(`${siteUrl}broken`, { waitUntil: 'networkidle' });
    });
    assert.notDeepEqual(problems, []);
  });
}

test('a picture without a text is inaccessible', async () => {
  await withPage({}, async (page) => {
    await loadAxe(page);
    await page.route(`${siteUrl}broken`, (route) => route.fulfill({ contentType: 'text/html', body: '<img src="data:,">' }));
    await page.goto(`${siteUrl}broken`);
    await assert.rejects(assertAccessible(page), /image-alt/);
  });
});
