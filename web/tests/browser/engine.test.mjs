// The card of a running inference server, with the real daemon and a server of recorded answers of llama.cpp.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { withPage } from './harness.mjs';
import { plain, sideways } from './page.mjs';
import { newState, startRidgepoint } from './servers.mjs';

// A limit of what hangs, not of what is slow: another program may have both cores.
const patient = { timeout: 120_000 };
const answers = new URL('../../../companion/tests/attach/llama_cpp/', import.meta.url);

/** A server whose counters are, for each reader, those of the first recording, then of the second. */
async function startLlama() {
  let [asked, requests] = [0, 0];
  const file = (path) => {
    if (path === '/props') {
      asked = 0; // whoever begins to read asks what it is first
      return 'props.json';
    }
    if (path === '/v1/models') return 'models.json';
    if (path !== '/slots' && path !== '/metrics') return undefined;
    asked += 1;
    const second = asked > 3 ? 2 : 1;
    return path === '/slots' ? `slots-${second}.json` : `metrics-${second}.txt`;
  };
  const server = createServer(({ url }, response) => {
    requests += 1;
    const name = file(url);
    response.writeHead(name ? 200 : 404, { Connection: 'close' });
    response.end(name ? readFileSync(new URL(name, answers)) : '');
  });
  await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
  return { address: `http://127.0.0.1:${server.address().port}`, requests: () => requests, stop: () => server.close() };
}

test('a running server is read beside its expected rate, until it is stopped', { timeout: 240_000 }, async () => {
  const folder = newState();
  const [daemon, llama] = [await startRidgepoint(process.env.RIDGEPOINT_SITE, { state: folder }), await startLlama()];
  try {
    const problems = await withPage({}, async (page) => {
      await loadAxe(page);
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await page.getByRole('heading', { level: 1, name: 'Connected', exact: true }).waitFor(patient);
      await page.locator('summary', { hasText: 'A running server' }).click();
      await page.locator('#engine-url').fill('http://10.0.0.1:80');
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.locator('.engine').getByText('reads servers of its own machine alone').waitFor(patient);
      await page.locator('#engine-url').fill(llama.address.replace('http://', ''));
      assert.equal(await page.locator('.engine > .message').innerText(), '', 'what was said is about another address');
      await page.locator('#engine-url').press('Enter');
      const card = page.locator('#engine');
      await card.getByText('the tick above compares with the model of Plan').waitFor(patient);
      await page.getByLabel('compare with the model of Plan').check(); // acts at once
      await page.getByText('Compared with Llama-3.1 8B as published, in BF16, because no scheme is chosen in Plan.').waitFor(patient);
      await card.getByText(/A token of Llama-3\.1 8B/).waitFor(patient);
      await page.locator('#engine-context').fill('no');
      await page.locator('#engine-context-message').getByText('must be').waitFor(patient);
      await page.locator('#engine-context').fill('4096');
      await page.locator('#engine-context').press('Enter');
      await card.getByText(/at 4096 cached/).waitFor(patient);
      await card.getByRole('heading', { name: /^llama\.cpp/ }).waitFor(patient);
      assert.match(plain(await card.locator('dl').first().innerText()), /generated\s+[\d.]+ token\/s/);
      await page.getByText(/The server runs on .*, and the comparison is with Jetson Orin Nano/).waitFor(patient);
      const rates = plain(await card.locator('.rates').innerText());
      assert.match(rates, /expected\s+[\d.]+ token\/s\s+live is [\d.]+×/);
      assert.match(rates, /ideal\s+[\d.]+ token\/s/);
      assert.match(plain(await card.innerText()), /A token of Llama-3\.1 8B/);
      for (const [width, colorScheme] of [[1440, 'light'], [390, 'dark']]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await assertAccessible(page);
        assert.equal(await sideways(page), 0);
        await card.scrollIntoViewIfNeeded();
        if (process.env.RIDGEPOINT_SHOT) await page.screenshot({ path: `${process.env.RIDGEPOINT_SHOT}.engine-${width}.png`, fullPage: true });
      }
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Read it' }).waitFor(patient);
      await page.getByText('The last reading; the server is not read any more.').waitFor(patient);
      assert.equal(await card.count(), 1, 'the last state stays');

      // After a reload the tab has the form, and the server is asked nothing before the reader presses the button.
      const asked = llama.requests();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Connected', exact: true }).waitFor(patient);
      await page.locator('summary', { hasText: 'A running server' }).click();
      await page.locator('#engine-url').waitFor(patient);
      assert.equal(await page.locator('#engine-url').inputValue(), llama.address.replace('http://', ''));
      assert.equal(await page.locator('#engine-context').inputValue(), '4096');
      assert.equal(await page.getByLabel('compare with the model of Plan').isChecked(), true);
      await page.waitForTimeout(3000); // longer than the time between two readings
      assert.deepEqual([llama.requests(), await card.count()], [asked, 0]);
      await page.getByRole('button', { name: 'Read it' }).click();
      await card.getByText(/A token of Llama-3\.1 8B/).waitFor(patient);
    });
    assert.deepEqual(problems, []);
  } finally {
    llama.stop();
    await daemon.stop();
  }
});
