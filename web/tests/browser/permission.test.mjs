// The browser's real permission for access to this machine: a page that counts as public, the permission denied or granted,
// and a daemon that runs all the time.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChromium } from './chromium.mjs';
import { startDaemon } from './daemon.mjs';
import { plain } from './page.mjs';
import { startPlain } from './servers.mjs';

const hosted = await startPlain(process.env.RIDGEPOINT_SITE);
const { host } = new URL(hosted.url);
after(() => hosted.stop());

const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor({ timeout: 20_000 });
const names = ['loopback-network', 'local-network-access'];

/** Opens the page as one of the public network, with this setting of the browser's permission. */
async function asPublic(setting, body) {
  const browser = await startChromium([`--ip-address-space-overrides=${host}=public`]);
  const daemon = await startDaemon();
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const { targetInfo: { browserContextId } } = await (await context.newCDPSession(page)).send('Target.getTargetInfo');
    const session = await browser.newBrowserCDPSession();
    for (const name of names) {
      await session.send('Browser.setPermission', { permission: { name }, setting, browserContextId }).catch((error) => console.log(`${name}: ${error.message}`)); // one of the names is older
    }
    await page.goto(`${hosted.url}#d=${daemon.address}&pair=${daemon.code()}`);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await body(page, daemon);
  } finally {
    await browser.close();
    await daemon.stop();
  }
}

test('with the permission denied, the page says so and how to allow it, and blames nothing else', { timeout: 60_000 }, async () => {
  await asPublic('denied', async (page, daemon) => {
    await state(page, 'Blocked by the browser');
    const words = plain(await page.locator('.connection').innerText());
    assert.match(words, /settings of this site.*allow/s);
    assert.doesNotMatch(words, /ridgepoint serve/);
    assert.deepEqual(daemon.heard, [], 'nothing reached the daemon');
  });
});

test('with the permission granted, the same page connects', { timeout: 60_000 }, async () => {
  await asPublic('granted', (page) => state(page, 'Connected'));
});
