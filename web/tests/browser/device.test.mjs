// Device with the real daemon and its policy: an address that the page may not ask, commands on keys, a forgotten pairing; and the fields
// and the table of measurements with a scripted daemon.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { machine, record, startDaemon } from './daemon.mjs';
import { withPage } from './harness.mjs';
import { plain, sideways, type } from './page.mjs';
import { newState, startPlain, startRidgepoint } from './servers.mjs';

const site = process.env.RIDGEPOINT_SITE;
const patient = { timeout: 60_000 };
const hosted = await startPlain(site);
after(() => hosted.stop());

const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor({ timeout: 20_000 });
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const words = async (page) => plain(await page.locator('.connection').innerText());
const keys = (folder) => JSON.parse(execFileSync(process.env.RIDGEPOINT_BIN, ['keys', 'list', '-o', 'json', '--state', folder], { encoding: 'utf8' }));

test('an address that the policy of the page forbids is not called an absent daemon', patient, async () => {
  const server = createServer((_, response) => response.end('a server of a model'));
  await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
  const address = `127.0.0.1:${server.address().port}`;
  const folder = newState();
  const daemon = await startRidgepoint(site, { state: folder });
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await state(page, 'Connected');
      await press(page, 'Disconnect');
      await type(page, 'daemon', address);
      await press(page, 'Connect');
      await state(page, 'Not allowed');
      const said = await words(page);
      assert.match(said, new RegExp(`may not ask ${address}: its policy allows ${new URL(daemon.url).host} only`));
      assert.match(said, new RegExp(`ridgepoint attach http://${address}`));
      assert.doesNotMatch(said, /Nobody answers/);
      await type(page, 'daemon', new URL(daemon.url).host);
      await press(page, 'Connect');
      await state(page, 'Connected');
    });
    assert.deepEqual(problems.filter((problem) => !/Content Security Policy|WebSocket/.test(problem)), []);
  } finally {
    server.close();
    await daemon.stop();
  }
});

test('commands on keys say that the daemon has a state folder of its own, and never which', patient, async () => {
  const folder = newState();
  const daemon = await startRidgepoint(site, { state: folder });
  try {
    await withPage({}, async (page) => {
      await page.goto(`${daemon.url}?view=measure`);
      await press(page, 'Connect');
      await state(page, 'Not paired');
      const said = await words(page);
      assert.match(said, /ridgepoint pair --state FOLDER/);
      assert.match(said, /FOLDER is the folder after --state/);
      assert.ok(!(await page.content()).includes(folder), 'a page that is not paired is told no path');
    });
  } finally {
    await daemon.stop();
  }
});

test('a forgotten pairing is revoked at the daemon', patient, async () => {
  const folder = newState();
  const daemon = await startRidgepoint(site, { state: folder });
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await state(page, 'Connected');
      assert.equal(keys(folder).length, 1);
      await press(page, 'Forget this pairing');
      await state(page, 'Not connected');
      assert.deepEqual(keys(folder), []);
      assert.equal(plain(await page.locator('.connection .message').innerText()), '');
      await press(page, 'Connect');
      await state(page, 'Not paired');
    });
    assert.deepEqual(problems, []);
  } finally {
    await daemon.stop();
  }
});

/** Opens the page paired with a scripted daemon. */
async function pair(page, daemon) {
  await page.goto(`${hosted.url}#d=${daemon.address}&pair=${daemon.code()}`);
  await press(page, 'Connect');
  await state(page, 'Connected');
}

test('an older daemon keeps the key, and the page says how to revoke it', patient, async () => {
  const daemon = await startDaemon({ unknown: ['revoke_key'] });
  try {
    await withPage({}, async (page) => {
      await pair(page, daemon);
      await press(page, 'Forget this pairing');
      await state(page, 'Not connected');
      assert.match(await words(page), /the daemon keeps it: it is older than this page\. ridgepoint keys revoke [0-9a-f]{16}/);
    });
  } finally {
    await daemon.stop();
  }
});

test('a side that is larger than the daemon takes is refused in its field', patient, async () => {
  const daemon = await startDaemon();
  try {
    await withPage({}, async (page) => {
      await pair(page, daemon);
      await type(page, 'n', '70000');
      await page.locator('#n-message').getByText('N must be at most 65').waitFor();
      await press(page, 'Measure');
      assert.ok(!daemon.heard.some(({ type }) => type === 'start_job'), 'nothing is ordered');
      await type(page, 'n', '4096');
      await press(page, 'Measure');
      await page.waitForFunction(() => document.querySelector('.running, .ended'));
    });
  } finally {
    await daemon.stop();
  }
});

/** Every kind of record with its longest words. */
const measures = (job, daemon) => {
  daemon.emit(job, { type: 'started', predicted_s: 4 });
  const sizes = { heads: 32, kv_heads: 8, head_dim: 128, context: 131072, new: 512, batch: 16 };
  const more = [
    record('int4_g128', 1.234e-3, { m: 16, n: 14336, k: 4096 }, { flags: ['throttled', 'contended'], device: machine }),
    record('gguf_q4_k', 8.9e-3, { m: 1, n: 28672, k: 8192 }, { device: machine }),
    record('fp16', 1.5e-2, { m: 1, n: 1, k: 1 }, { kernel: 'attention', shape: null, sizes, precision: { weights: 'fp16', activations: 'fp32' } }),
  ];
  for (const one of more) daemon.emit(job, { type: 'result', record: one });
  daemon.emit(job, { type: 'ended', state: 'done' });
};

test('the table of measurements is whole, or scrolls visibly, at every width', { timeout: 120_000 }, async () => {
  const daemon = await startDaemon({ run: measures });
  try {
    await withPage({ viewport: { width: 1440, height: 900 } }, async (page) => {
      await pair(page, daemon);
      await press(page, 'Measure');
      await page.locator('#measured tbody tr').nth(2).waitFor();
      for (const [width, colorScheme] of [[1440, 'light'], [1440, 'dark'], [1024, 'light'], [1024, 'dark'], [390, 'light'], [390, 'dark']]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const frame = page.locator('.scroll:has(#measured)');
        await frame.scrollIntoViewIfNeeded();
        if (process.env.RIDGEPOINT_SHOT) await page.screenshot({ path: `${process.env.RIDGEPOINT_SHOT}.table-${width}-${colorScheme}.png`, fullPage: true });
        const { inner, outer, right, shade } = await frame.evaluate((frame) => ({ inner: frame.scrollWidth, outer: frame.clientWidth, right: frame.getBoundingClientRect().right, shade: getComputedStyle(frame).backgroundImage }));
        console.log(`${width} px, ${colorScheme}: the table has ${inner} px of ${outer}`);
        assert.equal(await sideways(page), 0, `${width}`);
        assert.ok(right <= width, 'the frame is in the window');
        if (width > 390) assert.ok(inner <= outer, `${width}: ${inner} of ${outer} px`);
        else assert.match(shade, /gradient.*gradient/, 'a table that goes on has a shade at its edge');
      }
    });
  } finally {
    await daemon.stop();
  }
});
