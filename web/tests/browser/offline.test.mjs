// The site without a network and across builds: kept by a service worker, never pinned, and missing files said.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startChromium } from './chromium.mjs';
import { pageTest, siteUrl } from './harness.mjs';
import { startPlain } from './servers.mjs';

const site = process.env.RIDGEPOINT_SITE;
const verdict = (page) => page.locator('main .answer .verdict').innerText();
const newer = (page) => page.locator('.version', { hasText: 'newer version' });

/** Runs `body` with a copy of the site below a sub-path of a host that is not this machine, which a browser trusts like https. */
async function withCopy(body) {
  const folder = await mkdtemp(join(tmpdir(), 'ridgepoint-'));
  const copy = join(folder, 'some/where');
  await cp(site, copy, { recursive: true });
  const server = await startPlain(folder);
  const origin = server.url.replace(/\/\/[^:]+/, '//ridgepoint.test').slice(0, -1);
  const browser = await startChromium(['--host-resolver-rules=MAP ridgepoint.test 127.0.0.1', `--unsafely-treat-insecure-origin-as-secure=${origin}`]);
  try {
    await body({ page: await (await browser.newContext()).newPage(), root: `${origin}/some/where/`, copy, server });
  } finally {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/** Waits until the service worker has kept every file that it names. */
async function kept(page) {
  const named = (await readFile(join(site, 'service-worker.js'), 'utf8')).match(/"\.\/[^"]*"/g).length;
  const count = () => page.evaluate(async () => {
    const builds = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    return (await Promise.all(builds.map((build) => build.keys()))).flat().length;
  });
  for (let polls = 0; polls < 300 && await count() < named; polls += 1) await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await count(), named, 'files that are kept');
}

/** Makes another build of a site in place: another name of the build, and another name of its boot script. */
async function rebuild(copy) {
  const boot = (await readdir(copy)).find((name) => name.startsWith('boot-'));
  const other = 'boot-0000beef.js';
  await writeFile(join(copy, other), await readFile(join(copy, boot)));
  await rm(join(copy, boot));
  const html = await readFile(join(copy, 'index.html'), 'utf8');
  const build = html.match(/name="build" content="(\w+)"/)[1];
  for (const name of ['index.html', 'service-worker.js']) {
    const text = await readFile(join(copy, name), 'utf8');
    await writeFile(join(copy, name), text.replaceAll(build, 'another').replaceAll(boot, other));
  }
}

test('after one visit, every view and the documents open without a server', { timeout: 120_000 }, async () => {
  await withCopy(async ({ page, root, server }) => {
    await page.goto(root);
    await page.locator('main').waitFor();
    await kept(page);
    const said = await verdict(page);
    await server.stop();
    await page.reload();
    await page.locator('main').waitFor();
    assert.equal(await verdict(page), said);
    for (const view of ['plan', 'kernel', 'model', 'trust', 'measure']) {
      await page.goto(`${root}?view=${view}`);
      await page.locator('main h1, main h2').first().waitFor();
    }
    await page.goto(`${root}learn/`);
    await page.locator('article').waitFor();
    await page.goto(`${root}learn/theory/gemm.html`);
    await page.locator('article').waitFor();
  });
});

test('with a full storage the page works, and nothing is kept', { timeout: 60_000 }, async () => {
  await withCopy(async ({ page, root }) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(root).origin, quotaSize: 1000 });
    await page.goto(root);
    await page.locator('main').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.evaluate(() => navigator.serviceWorker.controller), null);
    await page.goto(`${root}?view=trust`);
    await page.locator('main table').first().waitFor();
    assert.equal(await page.locator('.version').count(), 0);
  });
});

test('a new build is shown by the next visit, and offered to a page that is open', { timeout: 120_000 }, async () => {
  await withCopy(async ({ page, root, copy }) => {
    await page.goto(root);
    await page.locator('main').waitFor();
    await kept(page);
    await rebuild(copy);
    const second = await page.context().newPage();
    await second.goto(`${root}?view=trust`);
    await second.locator('main').waitFor();
    assert.equal(await second.locator('meta[name=build]').getAttribute('content'), 'another');
    await newer(page).waitFor();
    assert.equal(await newer(second).count(), 0, 'this page is the new build');
    await page.getByRole('button', { name: 'Load it' }).click();
    await page.waitForFunction(() => document.querySelector('meta[name=build]')?.content === 'another');
    await page.locator('main').waitFor();
    assert.equal(await newer(page).count(), 0);
    const builds = await page.evaluate(() => caches.keys());
    assert.equal(builds.length, 2, 'the build before stays for pages that are open');
  });
});

test('a file that a redeploy removed is said as such, and the newer version is offered', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ridgepoint-'));
  await cp(site, folder, { recursive: true });
  const server = await startPlain(folder);
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.locator('main').waitFor();
    await rebuild(folder);
    for (const name of await readdir(folder)) if (/^(chunk|split)/.test(name)) await rm(join(folder, name));
    await page.getByRole('navigation', { name: 'Views' }).getByText('Trust').click();
    await newer(page).waitFor();
  } finally {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

for (const [what, answer] of [
  ['an unknown media type', (body) => ({ body, contentType: 'text/plain' })],
  ['a media type with a parameter', (body) => ({ body, contentType: 'application/wasm; charset=utf-8' })],
  ['octets', (body) => ({ body, contentType: 'application/octet-stream' })],
]) {
  test(`a server that sends programs as ${what} is no hindrance`, { timeout: 60_000 }, async () => {
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      await page.route('**/*.wasm', async (route) => route.fulfill(answer(await (await route.fetch()).body())));
      await page.goto(`${siteUrl}?view=trust`);
      await page.locator('main table').first().waitFor();
    } finally {
      await browser.close();
    }
  });
}

pageTest('a page of this machine installs no service worker', {}, async (page) => {
  await page.goto(siteUrl);
  await page.locator('main').waitFor();
  await page.waitForLoadState('networkidle');
  assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
  const manifest = await page.evaluate(async () => (await fetch(document.querySelector('link[rel=manifest]').href)).json());
  assert.equal(manifest.name, 'Ridgepoint');
  assert.equal(await page.evaluate(async (icon) => (await fetch(icon)).status, manifest.icons[0].src), 200);
});
