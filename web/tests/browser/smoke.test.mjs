// The page starts on every kind of host, under its content security policy, and is accessible.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, siteUrl } from './harness.mjs';
import { startPlain } from './servers.mjs';

const customDevice = fileURLToPath(new URL('../../../docs/examples/custom-device.json', import.meta.url));

pageTest('the page loads and reloads', {}, async (page) => {
  await openSite(page);
  assert.equal(await page.title(), 'Ridgepoint');
  await page.reload();
  await page.locator('main').waitFor();
});

pageTest('the page has a content security policy without unsafe exceptions', {}, async (page) => {
  await openSite(page);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
  const [connect] = policy.match(/connect-src [^;]*/);
  assert.equal(connect, "connect-src 'self' https://huggingface.co https://*.hf.co ws://127.0.0.1:* ws://localhost:*", 'daemons of this machine, one host of models and its storage');
  assert.doesNotMatch(policy.replace(connect, ''), /\*/);
});

pageTest('the page requests nothing from other hosts while it loads', {}, async (page) => {
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  page.on('websocket', (socket) => addresses.push(socket.url()));
  await openSite(page);
  await page.waitForLoadState('networkidle');
  const foreign = addresses.filter((address) => !address.startsWith(siteUrl) && !address.startsWith('data:'));
  assert.ok(addresses.length > 1, 'the page and its files were seen');
  assert.deepEqual(foreign, []);
});

for (const colorScheme of ['light', 'dark']) {
  pageTest(`axe finds no violation in ${colorScheme} colors`, { colorScheme }, async (page) => {
    await loadAxe(page);
    await openSite(page);
    await assertAccessible(page);
  });
}

pageTest('the page works from a sub-path of a plain server', {}, async (page) => {
  const folder = await mkdtemp(join(tmpdir(), 'ridgepoint-'));
  await cp(process.env.RIDGEPOINT_SITE, join(folder, 'some/where'), { recursive: true });
  const server = await startPlain(folder);
  try {
    // The icon is loaded last, on a busy machine long after the rest, and the server must still run.
    const icon = page.waitForResponse(/\/icon-[0-9a-f]+\.svg$/, { timeout: 30_000 });
    await openSite(page, '?view=kernel', `${server.url}some/where/`);
    await page.locator('#file').setInputFiles(customDevice); // read by a chunk, which is stored beside the page
    await page.waitForURL(/d=example_edge_asic/);
    await (await icon).finished();
    await page.waitForLoadState('networkidle');
    // A chunk may be fetched ahead at any time; the page is left before its server ends.
    await page.goto('about:blank');
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

pageTest('a link says at once that its answer comes, and shows no other one', {}, async (page) => {
  await page.route('**/*.wasm', () => {}); // a network that never answers
  await page.goto(`${siteUrl}?view=kernel&d=t4`, { waitUntil: 'commit' });
  await page.getByText('here in your browser').waitFor();
  await page.locator('#first-answer .plan').waitFor({ state: 'hidden' }); // when the style sheet is there
  assert.equal(await page.getByRole('link', { name: 'Kernel' }).isVisible(), true);
});

// The program of the page is held back until the returned function is called.
async function holdProgram(page) {
  let arrive;
  const arrival = new Promise((resolve) => { arrive = resolve; });
  await page.route(/web_bg/, async (route) => {
    await arrival;
    await route.continue();
  });
  return arrive;
}

pageTest('the focus on a link of the first text is on that link of the page afterwards', {}, async (page) => {
  const arrive = await holdProgram(page);
  await page.goto(siteUrl, { waitUntil: 'commit' });
  await page.locator('#first-answer').getByRole('link', { name: 'Trust' }).focus();
  arrive();
  await page.waitForFunction(() => !document.getElementById('first-answer'));
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Trust');
});

pageTest('a part of the scenario that is pressed before the program is there opens with its list', {}, async (page) => {
  const arrive = await holdProgram(page);
  await page.goto(siteUrl, { waitUntil: 'commit' });
  const shown = page.locator('#first-answer .part');
  await shown.nth(2).click();
  await shown.nth(1).click(); // the last one counts
  assert.equal(await page.locator('#first-answer [data-pressed]').innerText(), await shown.nth(1).innerText());
  arrive();
  await page.locator('#device-list').getByRole('option').first().waitFor();
  assert.equal(await page.locator('#part-device').getAttribute('aria-expanded'), 'true');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'device');
});
