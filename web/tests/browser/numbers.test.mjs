// The numbers on the page against an independent computation, which shares only the published facts below.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { openSite, pageTest } from './harness.mjs';
import { number, pick, readTable, type } from './page.mjs';

/** Datasheets: bandwidth [B/s] and dense FP16 peak [FLOP/s]. */
const devices = {
  jetson_orin_nano_8gb_super: { bandwidth: 102.4e9, peak: 16.7e12 },
  t4: { bandwidth: 320e9, peak: 65e12 },
};

/** Size of an N by K weight, in bytes. */
const weightBytes = {
  FP16: (n, k) => n * k * 2,
  'FP8 E4M3': (n, k) => n * k + 4, // one FP32 scale per tensor
  INT8: (n, k) => n * k + 4 * n, // one FP32 scale per output
  NVFP4: (n, k) => n * Math.ceil(k / 16) * 9 + 4, // 16 elements of 4 bits and an 8-bit scale; one FP32 per tensor
  'INT4 g128': (n, k) => n * Math.ceil(k / 128) * 68, // 128 elements of 4 bits, 16-bit scale and zero point
  'GGUF Q4_K': (n, k) => n * Math.ceil(k / 256) * 144,
};

/** All of these run with FP16 activations on FP16 arithmetic. */
function expectedRow({ bandwidth, peak }, format, [m, n, k]) {
  const flop = 2 * m * n * k;
  const bytes = 2 * m * k + weightBytes[format](n, k) + 2 * m * n;
  return { bytes, intensity: flop / bytes, ideal: Math.max(bytes / bandwidth, flop / peak) };
}

const keys = { FP16: 'fp16', 'FP8 E4M3': 'fp8_e4m3', INT8: 'int8', NVFP4: 'nvfp4', 'INT4 g128': 'int4_g128', 'GGUF Q4_K': 'gguf_q4_k' };

/** Expected time of the command line: its constants are fitted, so it cannot be computed by hand. */
function commandLine(device, format, [m, n, k]) {
  const words = ['analyze', '--hardware', device, '-m', m, '-n', n, '-k', k, '--weights', keys[format], '--activations', 'fp16', '-o', 'json'];
  return JSON.parse(execFileSync(process.env.RIDGEPOINT_BIN, words.map(String), { encoding: 'utf8' })).expected;
}

function assertClose(text, expected, what) {
  const difference = Math.abs(number(text) / expected - 1);
  assert.ok(difference <= 0.0051, `${what}: the page says ${text}, expected is ${expected}`); // three digits
}

const shapes = [
  ['jetson_orin_nano_8gb_super', [1, 4096, 4096]],
  ['jetson_orin_nano_8gb_super', [2048, 4096, 4096]],
  ['t4', [1, 28672, 4096]],
  ['t4', [127, 1, 129]], // no size is a multiple of any block
  ['t4', [1000000000, 3, 1000000]],
];

for (const [device, shape] of shapes) {
  pageTest(`the table matches the computation for ${shape.join(' × ')} on ${device}`, {}, async (page) => {
    await openSite(page, `?d=${device}`);
    for (const [index, id] of ['m', 'n', 'k'].entries()) {
      await type(page, id, String(shape[index]));
    }
    const table = await readTable(page);
    assert.deepEqual(Object.keys(table), Object.keys(weightBytes));
    for (const [format, { cells, interval }] of Object.entries(table)) {
      const byHand = expectedRow(devices[device], format, shape);
      const { time_s: time, low_s: fast, high_s: slow } = commandLine(device, format, shape);
      const base = commandLine(device, 'FP16', shape).time_s;
      assert.ok(time > byHand.ideal && fast < time && time < slow, `${format}: ${time}`);
      const expected = { ...byHand, expected: time, speedup: base / time };
      const names = ['bytes', 'intensity', 'ideal', 'expected', 'speedup'];
      names.forEach((name, index) => assertClose(cells[index], expected[name], `${name} of ${format}`));
      const [low, high] = interval.match(/^(.*)–(.*)$/).slice(1);
      const unit = high.replace(/^[\d. ]*(?:× 10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+ )?/, ' ');
      assertClose(high, slow, `slow end of ${format}`);
      assertClose(low + unit, fast, `fast end of ${format}`);
    }
  });
}

pageTest('another device changes every time in the table', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const before = await readTable(page);
  await pick(page, 'device', 'Tesla T4');
  const after = await readTable(page);
  for (const format of Object.keys(before)) {
    assert.equal(before[format].cells[0], after[format].cells[0], `bytes of ${format} are the same everywhere`);
    assert.notEqual(before[format].cells[2], after[format].cells[2], `ideal time of ${format}`);
  }
});

pageTest('a power mode slows the device down', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#mode').selectOption('7W');
  const table = await readTable(page);
  assertClose(table.FP16.cells[2], (2 * 4096 * 4096 + 4 * 4096) / 68.3e9, 'ideal time at 68.3 GB/s');
});
