// The whole loop with the real daemon and its real kernels: printed link, roofs of this machine, spot check of all precisions,
// calibration, kill -9 during a sweep, and the recovery. A test hook makes the daemon measure few points a few times: the
// messages are tested here, not the figures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from './harness.mjs';
import { canvasColors, plain, type } from './page.mjs';
import { newState, startRidgepoint } from './servers.mjs';

const site = process.env.RIDGEPOINT_SITE;
const hooks = { quick_plan: 9 };
// Limits of what hangs, not of what is slow: another program may have both cores.
const patient = { timeout: 240_000 };
const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor(patient);
const press = (page, name) => page.getByRole('button', { name, exact: true }).click(patient);
const ended = (page, what) => page.locator('.ended').getByText(what).waitFor(patient);
const rows = (page) => page.locator('#measured tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
const badges = async (page) => new Set(await page.locator('#measured .badge').allInnerTexts());
const said = (page) => page.locator('.answer > [role="status"]').allInnerTexts().then((all) => all.join(' '));
const colors = async (page) => Object.keys((await canvasColors(page)).colors).length;

async function calibrate(page) {
  const known = await page.locator('#history li').count();
  await press(page, 'Calibrate this machine');
  await page.locator('#history li').nth(known).waitFor(patient);
  await ended(page, 'calibration, done');
  await take(page, 'calibration');
}

// Results of a disturbed job do not replace earlier ones by themselves, and a loaded machine disturbs any job.
const take = (page, what) => press(page, `Use the ${what} of the shown job`);

test('link, roofs, spot check, calibration, and kill -9 during a sweep: no result is lost', { timeout: 480_000 }, async () => {
  const folder = newState();
  let server = await startRidgepoint(site, { state: folder, hooks });
  const { port } = new URL(server.url);
  const link = readFileSync(join(folder, 'link'), 'utf8').trim();
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(link);
      await state(page, 'Connected');
      assert.equal(new URL(page.url()).hash, '');

      await page.locator('.no-roofs').waitFor(patient); // the default device is another machine
      await press(page, 'Measure and calibrate (4 min)');
      await ended(page, 'calibration, done');
      await page.locator('#chart').waitFor(patient);
      await press(page, "Measure this machine's roofs");
      await ended(page, 'roofs, done');
      await take(page, 'roofs');
      await page.waitForFunction(() => /\(measured here\)$/.test(document.querySelector('#device').value), null, patient);
      await page.waitForURL(/d=this_machine.*#s=/, patient); // the device is part of the link
      const roofs = await rows(page);
      const once = ['Reading', 'FP32 multiply-adds', 'INT8 dot products'];
      assert.deepEqual(roofs.map(([what]) => what.split('\n')[0].trim()), [...once, ...once, ...once]);
      const same = 'it equals the measured roof';
      for (const [, , , expected, error] of roofs) {
        assert.match(expected, /roof/);
        assert.match(error, expected.startsWith(same) ? /^$/ : /%$/);
      }
      assert.ok(roofs.filter(([, , , expected]) => expected.startsWith(same)).length >= once.length);
      assert.match(await page.locator('.brief .badge').first().innerText(), /measured here/);
      const bare = await colors(page);

      await type(page, 'n', '512');
      await type(page, 'k', '512');
      const formats = (await page.getByLabel('Precision').locator('option').count()) - 1; // beside "All precisions"
      assert.ok(formats >= 16);
      await press(page, 'Measure');
      await ended(page, `${formats} precisions, done`);
      const before = await rows(page);
      assert.equal(before.length, formats);
      for (const row of before) {
        assert.match(row[4], /%$/, row.join());
      }
      assert.ok((await colors(page)) > bare, 'points are drawn');
      assert.match(await said(page), new RegExp(`Of ${formats} expected times half are off by at most`));
      assert.ok(!(await badges(page)).has('measured here'));

      await calibrate(page);
      await page.locator('.calibrate').getByText('Measured factors of').waitFor(patient);
      await page.locator('#history button', { hasText: `${formats} precisions` }).first().click();
      await page.waitForFunction((formats) => document.querySelectorAll('#measured tbody tr').length === formats, formats, patient);
      await page.getByText(/(Median|Largest) error of these points: .* before, .* with the calibration/).waitFor(patient);
      const after = await rows(page);
      assert.ok(after.every((row, at) => plain(row[2]) === plain(before[at][2])), 'what was measured stays');
      assert.ok(after.some((row, at) => row[3] !== before[at][3]), 'what is expected changes');
      assert.ok((await badges(page)).has('measured here'));

      // A link to another device: this machine's newest roofs are selected again, and Back returns to that device.
      const own = page.url();
      await page.goto(new URL('?view=measure&d=h100_sxm&v=1', own).href);
      await state(page, 'Connected');
      await page.locator('.notes').getByText('Back returns to H100').waitFor(patient);
      await page.waitForURL(/d=this_machine/, patient);
      await page.goBack();
      await page.waitForFunction(() => /^H100/.test(document.querySelector('#device').value), null, patient);
      await page.locator('.no-roofs').waitFor(patient);
      await page.goto(own);
      await state(page, 'Connected');

      await page.getByRole('link', { name: 'Kernel' }).click();
      await page.locator('table.formats .badge').getByText('measured here').first().waitFor(patient);
      await page.getByRole('link', { name: 'Model' }).click();
      await page.locator('.figures .badge').getByText(/measured here/).first().waitFor(patient);
      await page.getByRole('link', { name: 'Device', exact: true }).click();
      await state(page, 'Connected');

      await page.getByText('Sweep of shapes').click();
      await page.locator('#shapes').fill(Array.from({ length: 20 }, (_, at) => `1 ${256 + at} 512`).join('\n'));
      await press(page, 'Sweep');
      await page.locator('.running').getByText(new RegExp(`20 shapes, ${formats} precisions, \\d+ of ${20 * formats}`)).waitFor(patient);
      await page.waitForFunction(() => document.querySelectorAll('#measured tbody tr').length >= 3, null, patient);
      await server.stop('SIGKILL');
      await state(page, 'Connection lost');
      const seen = await rows(page);
      server = await startRidgepoint(site, { state: folder, port, hooks });
      await state(page, 'Connected');
      await ended(page, 'interrupted');
      const kept = await rows(page);
      assert.ok(seen.length >= 3 && kept.length >= seen.length && kept.length < 20 * formats - 40);
      assert.deepEqual(kept.slice(0, seen.length), seen, 'the points that it had');
      assert.match(await page.locator('#history li').first().innerText(), /20 shapes.*interrupted/s);
      assert.match(page.url(), /d=this_machine/);
      await press(page, 'Continue');
      await page.waitForFunction((kept) => document.querySelectorAll('#measured tbody tr').length > kept, kept.length, patient);
      await page.locator('#courses dt').getByText('CPU in use').waitFor(patient);
      assert.match(await page.locator('#courses path').first().getAttribute('d'), /^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+$/);
      assert.deepEqual((await rows(page)).slice(0, kept.length), kept, 'it continues after the points that it had');
      await press(page, 'Cancel');
    });
    assert.deepEqual(problems.filter((problem) => !/WebSocket/.test(problem)), []);
  } finally {
    await server.stop();
  }
});
