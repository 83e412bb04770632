// Kernels of a layer and products of several tokens, started from the page with the real daemon and its real kernels, by mouse and by
// keyboard; and a key that may only look, widened at the terminal. A test hook makes the daemon measure a few times: the messages are
// tested here, not the figures.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from './harness.mjs';
import { pick, plain, type } from './page.mjs';
import { newState, startRidgepoint } from './servers.mjs';

const site = process.env.RIDGEPOINT_SITE;
const hooks = { quick_plan: 9 };
// Limits of what hangs, not of what is slow: another program may have both cores.
const patient = { timeout: 120_000 };
const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor(patient);
const ended = (page, what) => page.locator('.ended').getByText(what).waitFor(patient);
const firstCells = (page) => page.locator('#measured tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[0].innerText));
const size = (page, name) => page.locator(`#size-${name}`);

test('attention is measured with the sizes of the chosen model, and four tokens with packed weights', { timeout: 480_000 }, async () => {
  const folder = newState();
  const server = await startRidgepoint(site, { state: folder, hooks });
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await state(page, 'Connected');

      await page.locator('#timed').selectOption('attention');
      await size(page, 'kv_heads').waitFor(patient);
      assert.deepEqual(
        await Promise.all(['batch', 'heads', 'kv_heads', 'head_dim', 'new'].map((name) => size(page, name).inputValue())),
        ['1', '32', '8', '128', '1'],
        'the sizes of the default model',
      );
      await type(page, 'size-kv_heads', '5');
      await page.getByText('Query heads must be a multiple of KV heads').first().waitFor(patient);
      await page.getByRole('button', { name: 'Take those of the model' }).click();
      assert.equal(await size(page, 'kv_heads').inputValue(), '8');
      await type(page, 'size-context', '512');
      await page.locator('#precision').selectOption('fp16');
      // From the last field to the button by keyboard alone.
      await page.locator('#precision').focus();
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.innerText), 'Measure');
      await page.keyboard.press('Enter');
      await ended(page, /attention.*done/i);
      const [attention] = await firstCells(page);
      assert.match(plain(attention), /attention/i);
      assert.match(plain(attention), /context 512/i);

      await page.locator('#timed').selectOption('product');
      for (const [field, value] of [['m', '4'], ['n', '512'], ['k', '512']]) {
        await type(page, field, value);
      }
      await page.getByText('4 tokens at once, as in decoding for 4 users').waitFor(patient);
      await page.locator('#precision').selectOption('int4_g128');
      await page.locator('form.spot').getByRole('button', { name: 'Measure', exact: true }).click();
      await page.waitForFunction(() => [...document.querySelectorAll('#measured tbody tr')].some((row) => /4 × 512 × 512/.test(row.innerText.replaceAll('\u202f', ' '))), null, patient);
      if (process.env.RIDGEPOINT_SHOT) await page.screenshot({ path: process.env.RIDGEPOINT_SHOT, fullPage: true });
    });
    assert.deepEqual(problems, []);
  } finally {
    await server.stop();
  }
});

test('a key that may only look is widened at the terminal with the command that the page shows', { timeout: 240_000 }, async () => {
  const folder = newState();
  const server = await startRidgepoint(site, { state: folder, hooks });
  const ridgepoint = (...words) => execFileSync(process.env.RIDGEPOINT_BIN, [...words, '--state', folder], { encoding: 'utf8' });
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(ridgepoint('pair', '--scope', 'read').match(/http\S+/)[0]);
      await state(page, 'Connected');
      await page.getByText('This session may only look').first().waitFor(patient);
      const shown = plain(await page.locator('.connection').innerText());
      const [, key] = /ridgepoint keys grant ([0-9a-f]{16}) --scope bench/.exec(shown) ?? assert.fail(shown);
      ridgepoint('keys', 'grant', key, '--scope', 'bench');
      await page.waitForFunction(() => !/may only look/.test(document.body.innerText), null, patient);
      await state(page, 'Connected');
    });
    assert.deepEqual(problems.filter((problem) => !/WebSocket/.test(problem)), []);
  } finally {
    await server.stop();
  }
});

test('a second device is chosen in the page, and its results are not drawn under the roofs of the first', { timeout: 240_000 }, async () => {
  const folder = newState();
  const server = await startRidgepoint(site, { state: folder, hooks: { ...hooks, device: 'time_us=200' } });
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(readFileSync(join(folder, 'link'), 'utf8').trim());
      await state(page, 'Connected');
      const choice = page.getByLabel('Device that is measured');
      await choice.waitFor(patient);
      assert.equal(await choice.locator('option').count(), 2);
      const kernels = () => page.locator('#timed option').allInnerTexts();
      const first = await kernels();
      await choice.selectOption('fake:0');
      await page.waitForFunction((count) => document.querySelectorAll('#timed option').length < count, first.length, patient);
      for (const kernel of await kernels()) assert.ok(first.includes(kernel), kernel);
      await page.locator('form.spot').getByRole('button', { name: 'Measure', exact: true }).click();
      await ended(page, /done/);
      assert.ok((await firstCells(page)).length > 0);
      const device = await choice.locator('option:checked').innerText();
      await page.locator('.no-roofs').getByText(`What is measured is ${device}`).waitFor(patient);
      const history = page.locator('#history');
      await history.getByText(`on ${device}`).first().waitFor(patient);
      // A card cannot be calibrated without products; its roofs make it the device.
      assert.ok(await page.getByRole('button', { name: `Calibrate ${device}` }).isDisabled());
      await page.locator('.no-roofs').getByRole('button', { name: `Measure ${device}'s roofs` }).click();
      const isDevice = (name) => page.waitForFunction((name) => document.querySelector('#device').value === `This machine: ${name} (measured here)`, name, patient);
      await isDevice(device);
      await page.locator('#chart').waitFor(patient);
      // The processor is measured, too: both stay choices, also for a page that connects later.
      await choice.selectOption({ index: 0 });
      const processor = await choice.locator('option').first().innerText();
      await page.getByRole('button', { name: "Measure this machine's roofs" }).first().click();
      await isDevice(processor);
      for (const begin of [() => {}, () => page.reload()]) {
        await begin();
        await state(page, 'Connected');
        await page.waitForFunction((name) => document.querySelector('#device').value.includes(name), processor, patient);
        await page.getByRole('link', { name: 'Plan', exact: true }).click();
        await page.locator('#part-device').click();
        await pick(page, 'device', `this machine: ${device} (measured here)`);
        await page.locator('#part-device').getByText(device).waitFor(patient); // the line leaves the brackets out
        await pick(page, 'device', 'h100');
        await page.locator('#part-device').getByText('H100').waitFor(patient);
        await pick(page, 'device', 'this machine');
        await page.locator('#part-device').getByText(processor).waitFor(patient);
        await page.getByRole('link', { name: 'Device', exact: true }).click();
      }
      await page.getByRole('link', { name: 'Device', exact: true }).click();
      await state(page, 'Connected');
      if (process.env.RIDGEPOINT_SHOT) await page.screenshot({ path: `${process.env.RIDGEPOINT_SHOT}.second.png`, fullPage: true });
    });
    assert.deepEqual(problems, []);
  } finally {
    await server.stop();
  }
});
