// The user's own files: those of the documentation and of the command line's tests work in the page, too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { openSite, pageTest, withPage } from './harness.mjs';
import { chosenRow, pick, plain, query, readTable } from './page.mjs';

const root = new URL('../../../', import.meta.url);
const file = (path) => fileURLToPath(new URL(path, root));
const device = file('docs/examples/custom-device.json');
const notes = (page) => page.locator('.notes').innerText();

pageTest('a custom device is selected, named in the address, and restored by the back button', {}, async (page) => {
  const fetched = [];
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await openSite(page, '?view=kernel');
  const table = await readTable(page);
  assert.ok(!fetched.some((path) => path.includes('split_reader')), 'the chunk that reads files is fetched only when it is needed');
  await page.locator('#file').setInputFiles(device);
  await page.waitForURL(/d=example_edge_asic.*#s=/);
  assert.ok(fetched.some((path) => path.includes('split_reader')));
  assert.notDeepEqual(await readTable(page), table);
  await page.goBack();
  assert.deepEqual(await readTable(page), table);
  await page.goForward();
  assert.notDeepEqual(await readTable(page), table);
  assert.equal(plain(await notes(page)), '');
  const own = await readTable(page);
  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual(await readTable(page), own, 'the address carries the device');
  assert.equal(plain(await notes(page)), '');
  assert.match(new URL(page.url()).hash, /^#s=[\w-]{50,}$/);
});

pageTest('a device left before its fragment was packed is restored by the back button, and is in the address', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const before = await readTable(page);
  await page.evaluate(() => {
    const pack = globalThis.ridgepointPack;
    globalThis.ridgepointPack = async (text) => {
      await new Promise((resolve) => { globalThis.letGo = resolve; });
      return pack(text);
    };
  });
  await page.locator('#file').setInputFiles(device);
  await page.waitForURL(/d=example_edge_asic/);
  const own = await readTable(page);
  assert.notDeepEqual(own, before);
  assert.equal(new URL(page.url()).hash, '', 'the fragment is on its way');
  await page.goBack();
  assert.deepEqual(await readTable(page), before);
  await page.evaluate(() => globalThis.letGo());
  await page.goForward();
  assert.deepEqual(await readTable(page), own);
  await page.waitForURL(/d=example_edge_asic.*#s=/);
  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual(await readTable(page), own);
  assert.equal(plain(await notes(page)), '');
});

const measurements = file('docs/examples/calibration.json');

pageTest('own measurements take precedence, are labeled, are part of the link, and can be left out', {}, async (page) => {
  await openSite(page, '?w=fp16');
  const before = await readTable(page);
  await page.locator('#file').setInputFiles(measurements);
  await page.getByText('Your measurements come first.').waitFor();
  await page.waitForURL(/#s=/);
  const after = await readTable(page);
  assert.notDeepEqual(after.FP16, before.FP16);
  assert.deepEqual(after.INT8.cells.slice(0, 4), before.INT8.cells.slice(0, 4), 'a format that nobody measured stays');
  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual(await readTable(page), after);
  await page.locator('tr.chosen .explained').nth(3).focus();
  assert.match(await page.locator('#explanation').innerText(), /own measurements of this device/);
  await page.keyboard.press('Escape');
  await pick(page, 'device', 't4');
  assert.equal(await page.getByText('Your measurements come first.').isVisible(), false);
  await page.goBack();
  await page.getByText('Your measurements come first.').waitFor();
  await page.getByRole('button', { name: 'Leave them out' }).click();
  assert.deepEqual(await readTable(page), before);
  assert.equal(new URL(page.url()).hash, '');
});

pageTest('own measurements apply in the Model view, too', {}, async (page) => {
  await openSite(page, '?view=model&weights=gguf_q4_k');
  const each = () => page.locator('table.figures tbody tr').nth(1).innerText();
  await page.locator('.figures').waitFor();
  const before = await each();
  await page.evaluate(() => document.querySelector('.import').setAttribute('open', ''));
  await page.locator('.import input[type=file]').setInputFiles(measurements);
  await page.getByText('Your measurements come first.').waitFor();
  assert.notEqual(await each(), before, 'steps with llama.cpp, the usual engine there, were measured in this format');
});

pageTest('measurements of an unknown device are refused with a message', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const text = readFileSync(measurements, 'utf8').replace('jetson_orin_nano_8gb_super', 'my_own_chip');
  await page.locator('#file').setInputFiles({ name: 'mine.json', mimeType: 'application/json', buffer: Buffer.from(text) });
  await page.locator('.notes li').waitFor();
  assert.match(plain(await notes(page)), /of `my_own_chip`, which the page does not know; open its device file first/);
});

/** Opens the custom device and returns the link to it. */
async function linkToOwn(page) {
  await openSite(page, '?view=kernel');
  await page.locator('#file').setInputFiles(device);
  await page.waitForURL(/#s=/);
  await page.waitForLoadState('networkidle'); // the icon is loaded last
  return page.url();
}

for (const [name, change] of [
  ['cut off', (code) => code.slice(0, code.length / 2)],
  ['changed', (code) => `${code.slice(0, 40)}${code[40] === 'A' ? 'B' : 'A'}${code.slice(41)}`],
  ['empty', () => ''],
  ['not base64', () => '%00<script>'],
  ['far too long', () => 'x'.repeat(200_000)],
  ['a decompression bomb', () => deflateSync(Buffer.alloc(3_000_000, 65)).toString('base64url')],
  ['in another format', () => deflateSync('device 1\nkey\tx\n').toString('base64url')],
]) {
  pageTest(`a fragment that is ${name} gives a note and the default device`, {}, async (page) => {
    const [address, code] = (await linkToOwn(page)).split('#s=');
    await page.goto('about:blank');
    await page.goto(`${address}#s=${change(code)}`);
    await page.locator('main').waitFor();
    assert.match(await page.locator('#device').inputValue(), /Orin Nano/);
    assert.match(await notes(page), /cannot be read|no device of the catalog/);
  });
}

pageTest('a pasted fragment is applied while the page is open', {}, async (page) => {
  const link = await linkToOwn(page);
  const own = await readTable(page);
  await openSite(page, '?d=t4');
  await page.evaluate((link) => { location.href = link; }, link);
  await page.waitForFunction(() => document.querySelector('#device')?.placeholder !== 'Tesla T4');
  await page.locator('main').waitFor();
  assert.deepEqual(await readTable(page), own);
});

test('a chunk that fails to load shows a message, and loads on the next try', { timeout: 60_000 }, async () => {
  await withPage({}, async (page) => {
    await openSite(page, '?view=kernel');
    await page.route('**/split_reader*', (route) => route.abort());
    await page.locator('#file').setInputFiles(device);
    await page.locator('.notes li').waitFor();
    assert.match(await notes(page), /could not be fetched/);
    await page.unroute('**/split_reader*');
    await page.locator('#file').setInputFiles(device);
    await page.waitForURL(/d=example_edge_asic/);
  });
});

pageTest('a config.json gives the shapes of its model', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#file').setInputFiles(file('docs/examples/custom-model.json'));
  const shape = page.getByRole('button', { name: 'gate_up' });
  await shape.click();
  assert.notEqual(await page.locator('#n').inputValue(), '4096');
  assert.equal(await shape.getAttribute('aria-pressed'), 'true');
  assert.match(await query(page), /n=\d+/);
  assert.match(plain(await page.locator('.inputs').innerText()), /custom-model\.json, [\d ]+ parameters/);
});

for (const [name, content, says] of [
  ['truncated.json', '{"key": "x", "bandwidth_gb_s": 1', /truncated\.json: not a device file/],
  ['impossible.json', '{"key":"x","class":"cpu","memory_gib":-1,"bandwidth_gb_s":1,"dense_peaks_tflops":{"fp32":1}}', /memory_gib must be from/],
  ['image.json', '{"model_type":"vit","architectures":["ViTForImageClassification"],"image_size":224}', /image\.json: /],
  ['empty.json', '', /empty\.json: /],
  ['binary.json', Buffer.from([0, 255, 254, 1, 2]), /binary\.json: /],
  ['large.json', 'x'.repeat(16_000_001), /large\.json: at most 16 MB are read/],
]) {
  pageTest(`${name} is refused with a message, and the answer stays`, {}, async (page) => {
    await openSite(page, '?view=kernel');
    await pick(page, 'device', 'T4');
    const row = await chosenRow(page);
    const table = await readTable(page);
    await page.locator('#file').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
    await page.locator('.notes li').waitFor();
    assert.match(await notes(page), says);
    assert.equal(await chosenRow(page), row);
    assert.deepEqual(await readTable(page), table);
  });
}
