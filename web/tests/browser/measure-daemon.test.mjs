// The Measure view with the real daemon: its printed link, scripted jobs, kill -9 during a job, and a restart.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from './harness.mjs';
import { newState, startRidgepoint } from './servers.mjs';

const site = process.env.RIDGEPOINT_SITE;
const hooks = { scripted: true };
const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor({ timeout: 20_000 });
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const rows = (page) => page.locator('#measured tbody tr').count();

/** Replaces every measurement that the page requests by a scripted job. */
const scripted = (page, steps, stepMs) => page.addInitScript(([steps, stepMs]) => {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (text) {
    const message = JSON.parse(text);
    if (message.ask.type === 'start_job') {
      message.ask.job = { kind: 'bench', what: 'bandwidth', backend: `scripted-${steps}-${stepMs}-x-finish` };
    }
    return send.call(this, JSON.stringify(message));
  };
}, [steps, stepMs]);

test('the printed link pairs, a job is kept as interrupted after kill -9, and none of its results are lost', { timeout: 120_000 }, async () => {
  const folder = newState();
  let server = await startRidgepoint(site, { state: folder, hooks });
  const { port } = new URL(server.url);
  const link = readFileSync(join(folder, 'link'), 'utf8').trim();
  try {
    const problems = await withPage({}, async (page) => {
      await scripted(page, 200, 100);
      await page.goto(link);
      await state(page, 'Connected');
      assert.equal(new URL(page.url()).hash, '');
      await page.locator('#sensors div').first().waitFor();
      await press(page, 'Measure');
      await page.locator('#measured tbody tr').nth(2).waitFor();
      await server.stop('SIGKILL');
      await state(page, 'Connection lost');
      const seen = await rows(page);
      assert.ok(seen >= 3);
      server = await startRidgepoint(site, { state: folder, port, hooks });
      await state(page, 'Connected');
      await page.locator('.ended').getByText('interrupted').waitFor();
      assert.ok((await rows(page)) >= seen, 'what was found is there');

      await page.reload();
      await state(page, 'Connected');
      await page.waitForFunction((seen) => document.querySelectorAll('#measured tbody tr').length >= seen, seen);
      await press(page, 'Measure');
      await page.locator('.running').getByText(/ of 200 points: step/).waitFor();
      await press(page, 'Cancel');
      await page.locator('.ended').getByText('canceled').waitFor();
      const cut = await rows(page);
      await press(page, 'Continue');
      await page.locator('.running').getByText(/ of 200 points: step/).waitFor();
      const [, next] = /(\d+) of 200 points: step/.exec(await page.locator('.running').innerText());
      assert.ok(Number(next) > cut, `it continues after ${cut}, at ${next}`);
      assert.ok((await rows(page)) >= cut, 'what was found is there');
      await press(page, 'Cancel');
      await page.locator('.ended').getByText('canceled').waitFor();

      // A used link opens the session of the key that this browser has, and says why not to one that has none.
      await page.goto('about:blank');
      await page.goto(link);
      await state(page, 'Connected');
      await press(page, 'Disconnect');
    });
    const strangers = await withPage({}, async (page) => {
      await page.goto(link);
      await state(page, 'Not paired');
      await page.locator('.connection').getByText('wrong, used, or older than 5 minutes').waitFor();
    });
    assert.deepEqual([...problems, ...strangers].filter((problem) => !/WebSocket/.test(problem)), []);
  } finally {
    await server.stop();
  }
});

test('without the chunk that reads messages the page says so, and connects when it is there', { timeout: 60_000 }, async () => {
  const folder = newState();
  const server = await startRidgepoint(site, { state: folder, hooks });
  try {
    const problems = await withPage({ serviceWorkers: 'block' }, async (page) => {
      await page.route(/split_wire/, (route) => route.abort());
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await page.getByText('could not be fetched; try again when you are online').waitFor();
      await page.unroute(/split_wire/);
      await press(page, 'Connect');
      await state(page, 'Connected');
      assert.equal(await page.getByText('could not be fetched').count(), 0);
    });
    assert.deepEqual(problems.filter((problem) => !/wire|fetch|Failed to load resource/.test(problem)), []);
  } finally {
    await server.stop();
  }
});
