// The Measure view with a scripted daemon: pairing, spot checks, cancel, lost connections, calibration, failed connections.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { machine, record, startDaemon } from './daemon.mjs';
import { openSite, pageTest, siteUrl as ownUrl, withPage } from './harness.mjs';
import { canvasColors, pick, plain, type, verdict } from './page.mjs';
import { startPlain } from './servers.mjs';

// A page served by a daemon may connect to that daemon only; one from a plain server, to every daemon of this machine.
const hosted = await startPlain(process.env.RIDGEPOINT_SITE);
const siteUrl = hosted.url;
after(() => hosted.stop());

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const view = (page) => page.locator('main.measure').waitFor();
const state = (page, title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
const rows = (page) => page.locator('#measured tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
const ended = (page) => page.locator('.ended');
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

/** Defines a test with a daemon of its own, and a page that is paired with it. */
function paired(name, { daemon: options, page: context = {}, lost = false }, body) {
  test(name, { timeout: 60_000 }, async () => {
    const daemon = await startDaemon(options);
    try {
      const problems = await withPage(context, async (page) => {
        await pair(page, daemon);
        await body(page, daemon);
      });
      assert.deepEqual(lost ? problems.filter((problem) => !/WebSocket/.test(problem)) : problems, [], 'the page reported problems');
    } finally {
      await daemon.stop();
    }
  });
}

async function pair(page, daemon) {
  await page.goto(`${siteUrl}#d=${daemon.address}&pair=${daemon.code()}`);
  await view(page);
  await press(page, 'Connect');
  await state(page, 'Connected');
}

/** Reports a result for every format of a job, one after the other; fewer bits take less time. */
const measures = (job, daemon) => {
  const { formats, shapes } = job.spec;
  daemon.emit(job, { type: 'started', predicted_s: 4 });
  if (!formats) return daemon.emit(job, { type: 'ended', state: 'failed' });
  let done = 0;
  for (const shape of shapes) {
    for (const format of formats) {
      daemon.emit(job, { type: 'result', record: record(format, 1e-3 / (done + 1), shape) });
      done += 1;
      daemon.emit(job, { type: 'progress', done, total: formats.length * shapes.length, note: format });
    }
  }
  daemon.emit(job, { type: 'ended', state: 'done' });
};

paired('a link pairs after a click, its code is removed from the address, and the key is kept', {}, async (page, daemon) => {
  assert.equal(new URL(page.url()).hash, '');
  await page.waitForURL(/d=epyc_9654/); // the machine is selected
  assert.deepEqual([...new URL(page.url()).searchParams], [['view', 'measure'], ['d', 'epyc_9654'], ['v', '1']]);
  const keys = await page.evaluate(() => new Promise((resolve) => {
    indexedDB.open('ridgepoint').onsuccess = ({ target }) => {
      target.result.transaction('keys').objectStore('keys').getAll().onsuccess = ({ target }) => resolve(target.result.map(({ secret, address }) => [secret.extractable, address]));
    };
  }));
  assert.deepEqual(keys, [[false, daemon.address]], 'what is kept cannot be read');
  await page.reload();
  await state(page, 'Not connected');
  await type(page, 'daemon', daemon.address);
  await press(page, 'Connect');
  await state(page, 'Connected');
  assert.deepEqual(daemon.heard.filter(({ type }) => ['pair', 'identify'].includes(type)).map(({ type }) => type), ['pair', 'identify']);
  await press(page, 'Forget this pairing');
  await press(page, 'Connect');
  await state(page, 'Not paired');
});

test('no connection is opened before a click', { timeout: 60_000 }, async () => {
  const daemon = await startDaemon();
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(`${siteUrl}#d=${daemon.address}&pair=${daemon.code()}`);
      await view(page);
      await page.getByText('A link brought a pairing code').waitFor();
      assert.equal(daemon.open, 0);
    });
    assert.deepEqual(problems, []);
  } finally {
    await daemon.stop();
  }
});

test('a wrong code, another version and an absent daemon each show what to do', { timeout: 60_000 }, async () => {
  const daemon = await startDaemon();
  const other = await startDaemon({ versions: { min: 7, max: 9 } });
  const gone = await startDaemon();
  await gone.stop();
  try {
    const problems = await withPage({}, async (page) => {
      const cases = [
        [daemon.address, 'Not paired', /code is wrong, used, or older.*ridgepoint pair/s],
        [other.address, 'Another version', /9\.8\.7.*the daemon itself serves/s],
        [gone.address, 'Not running', /Nobody answers.*ridgepoint serve.*--allow-origin/s],
      ];
      for (const [address, title, words] of cases) {
        await page.goto(`${siteUrl}?nothing=${title.length}#d=${address}&pair=WRONG23`);
        await view(page);
        await press(page, 'Connect');
        await state(page, title);
        assert.match(await page.locator('.connection').innerText(), words);
        assert.ok(await page.getByRole('button', { name: 'Measure', exact: true }).isDisabled());
      }
      await page.getByRole('link', { name: 'Kernel' }).click();
      await page.locator('tr.chosen').waitFor(); // the calculator needs no daemon
    });
    assert.deepEqual(problems.filter((problem) => !/WebSocket/.test(problem)), []);
  } finally {
    await Promise.all([daemon.stop(), other.stop()]);
  }
});

pageTest('only addresses of this machine are accepted', {}, async (page) => {
  await openSite(page, '?view=measure', siteUrl);
  await view(page);
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  for (const address of ['evil.test:8000', '10.1.2.3:8000', '127.0.0.1', 'localhost:0', 'http://localhost:1/x']) {
    await type(page, 'daemon', address);
    await press(page, 'Connect');
    assert.equal(await page.locator('#daemon').getAttribute('aria-invalid'), 'true', address);
    assert.match(await page.locator('#daemon-message').innerText(), /ssh -L/);
  }
  assert.deepEqual(sockets, []);
});

test('a page served by a daemon connects to that daemon only, and says so', { timeout: 60_000 }, async () => {
  const daemon = await startDaemon();
  try {
    const problems = await withPage({}, async (page) => {
      await page.goto(`${ownUrl}#d=${daemon.address}&pair=${daemon.code()}`);
      await view(page);
      await press(page, 'Connect');
      await page.getByText(/This page may not ask .*: its policy allows/).waitFor();
      assert.equal(daemon.open, 0);
    });
    assert.ok(problems.every((problem) => /Content Security Policy/.test(problem)), problems.join());
  } finally {
    await daemon.stop();
  }
});

pageTest('a link that names another host opens no connection', {}, async (page) => {
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.goto(`${siteUrl}#d=evil.test:80&pair=ABC`);
  await view(page);
  await state(page, 'Not connected');
  assert.deepEqual([new URL(page.url()).hash, sockets], ['', []]);
});

paired('a spot check of all precisions is shown on the roofline, beside the expected times', { daemon: { run: measures } }, async (page, daemon) => {
  await pick(page, 'device', 'epyc 9654');
  await page.locator('#chart').waitFor();
  const { colors: before } = await canvasColors(page);
  await type(page, 'n', '2048');
  await press(page, 'Measure');
  await ended(page).getByText('15 precisions, done').waitFor();
  const [spec] = daemon.jobs.map(({ spec }) => spec);
  assert.deepEqual([spec.what, spec.shapes, spec.formats.length], ['gemv', [{ m: 1, n: 2048, k: 4096 }], 15]);
  const found = await rows(page);
  assert.equal(found.length, 15);
  assert.match(plain(found[0][0]), /^FP32\s+1 × 2 048 × 4 096, cold/);
  assert.equal(await page.locator('#measured tbody [tabindex="0"]').count(), 1);
  assert.equal(found[0][1], 'good');
  assert.match(plain(found[0][2]), /^1\.00 ms\s+0\.950–1\.05 ms, 40 samples/);
  assert.match(plain(found[0][3]), /^[\d.]+ [µm]s \([\d.]+–[\d.]+ [µm]s\)\s+assumed$/);
  assert.match(found[0][4], /^[+−][\d.]+\s%$/);
  assert.match(await page.locator('.answer > [role="status"]').allInnerTexts().then((all) => all.join(' ')), /\d+ expected times (half )?are off by at most/);
  const { colors: after } = await canvasColors(page);
  assert.ok(Object.keys(after).length > Object.keys(before).length, 'points are drawn');
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('.chart [role="status"]').getByText(/measured .* error/).waitFor();
  await page.keyboard.press('Escape');
});

paired('a sweep measures shapes in one precision, with separate jobs for vectors and matrices', { daemon: { run: measures } }, async (page, daemon) => {
  await page.locator('#precision').selectOption('int8');
  await page.getByText('Sweep of shapes').click();
  await page.locator('#shapes').fill('1 64 64\n1 128 64\n32 64 64');
  await press(page, 'Sweep');
  await page.locator('#history li').nth(1).getByText('done').waitFor();
  assert.deepEqual(daemon.jobs.map(({ spec }) => [spec.what, spec.shapes.length, spec.formats]).sort(), [['gemm', 1, ['int8']], ['gemv', 2, ['int8']]]);
  await page.locator('#shapes').fill('1 64');
  await press(page, 'Sweep');
  await page.getByText('`1 64` is no shape').waitFor();
  assert.equal(daemon.jobs.length, 2);
  const vector = daemon.jobs.find(({ spec }) => spec.what === 'gemv').job;
  await page.locator('#history button', { hasText: `${vector}: ` }).click();
  await page.waitForFunction(() => document.querySelectorAll('#measured tbody tr').length === 2);
});

paired('progress is shown, and a job can be canceled', { daemon: { run: (job, daemon) => {
  daemon.emit(job, { type: 'started', predicted_s: 100 });
  daemon.emit(job, { type: 'progress', done: 1, total: 4, note: 'fp32' });
} } }, async (page, daemon) => {
  await press(page, 'Measure');
  await page.locator('.running').getByText(/1 of 4 points: fp32; about \d+ s left/).waitFor();
  assert.deepEqual(await page.locator('progress').evaluate(({ value, max }) => [value, max]), [1, 4]);
  await press(page, 'Cancel');
  await ended(page).getByText('canceled').waitFor();
  assert.equal(await page.locator('.running').count(), 0);
  assert.ok(daemon.heard.some(({ type, job }) => type === 'cancel_job' && job === 1));
});

paired('a canceled sweep is continued: its results stay, and the rest is measured', { daemon: { run: (job, daemon) => {
  daemon.emit(job, { type: 'started', predicted_s: 100 });
  const { formats } = job.spec;
  const done = job.events.filter(({ event }) => event.type === 'result').length;
  const upTo = done === 0 ? 3 : formats.length;
  for (let at = done; at < upTo; at += 1) {
    daemon.emit(job, { type: 'progress', done: at, total: formats.length, note: formats[at] });
    daemon.emit(job, { type: 'result', record: record(formats[at], 1e-3) });
  }
  if (done > 0) daemon.emit(job, { type: 'ended', state: 'done' });
} } }, async (page, daemon) => {
  await press(page, 'Measure');
  await page.waitForFunction(() => document.querySelectorAll('#measured tbody tr').length === 3);
  assert.equal(await page.getByRole('button', { name: 'Continue', exact: true }).count(), 0);
  await press(page, 'Cancel');
  await ended(page).getByText('canceled').waitFor();
  await press(page, 'Continue');
  await ended(page).getByText('done').waitFor();
  const names = (await rows(page)).map(([what]) => what.split('\n')[0].trim());
  assert.deepEqual([names.length, new Set(names).size], [15, 15]);
  assert.deepEqual(daemon.heard.filter(({ type }) => type === 'continue_job').map(({ job }) => job), [1]);
  assert.equal(await page.getByRole('button', { name: 'Continue', exact: true }).count(), 0);
});

paired('both jobs of a sweep are canceled and continued together, and shapes that the precision has not are left out', { daemon: { run: (job, daemon) => {
  daemon.emit(job, { type: 'started', predicted_s: 100 });
  daemon.emit(job, { type: 'progress', done: 1, total: 4, note: 'step' });
} } }, async (page, daemon) => {
  await page.locator('#precision').selectOption('int8');
  await page.getByText('Sweep of shapes').click();
  await page.locator('#shapes').fill('1 64 64\n32 64 64');
  await press(page, 'Sweep');
  await page.locator('#history li').nth(1).waitFor();
  const jobs = () => daemon.heard.filter(({ type }) => type === 'cancel_job' || type === 'continue_job').map(({ type, job }) => `${type} ${job}`);
  await press(page, 'Cancel both jobs');
  await page.getByRole('button', { name: 'Continue both jobs', exact: true }).click();
  await page.locator('#history li').nth(3).waitFor();
  assert.deepEqual(jobs(), ['cancel_job 2', 'cancel_job 1', 'continue_job 1', 'continue_job 2']);
  await press(page, 'Cancel both jobs');
  await page.locator('#precision').selectOption('nf4');
  await press(page, 'Sweep');
  await page.getByText('One shape is left out. A product of more than').waitFor();
  await page.locator('#history li').nth(4).waitFor();
  assert.equal(daemon.jobs.length, 5);
});

paired('a double click on Measure is one order', { daemon: { run: measures } }, async (page, daemon) => {
  await page.getByRole('button', { name: 'Measure', exact: true }).dblclick();
  await ended(page).getByText('done').waitFor();
  // A later click is an order of its own.
  await page.waitForTimeout(600);
  await press(page, 'Measure');
  await page.locator('#history li').nth(1).getByText('done').waitFor();
  assert.equal(daemon.jobs.length, 2);
});

paired('every row has one grade that explains itself, and each warning stands once', { daemon: { run: (job, daemon) => {
  const wrong = { check: { worst_error: 0.5, tolerance: 1e-4, passed: false } };
  daemon.emit(job, { type: 'started', predicted_s: 1 });
  daemon.emit(job, { type: 'result', record: record('fp32', 1e-2) });
  daemon.emit(job, { type: 'result', record: record('fp16', 1e-2, undefined, { flags: ['contended', 'autocorrelated'] }) });
  for (const format of ['int8', 'nf4']) daemon.emit(job, { type: 'result', record: record(format, 1e-2, undefined, wrong) });
  daemon.emit(job, { type: 'ended', state: 'done' });
} } }, async (page) => {
  await pick(page, 'device', 'epyc 9654');
  await press(page, 'Measure');
  await ended(page).getByText('done').waitFor();
  assert.deepEqual((await rows(page)).map((row) => row[1]), ['good', 'noisy', 'do not use', 'do not use']);
  assert.deepEqual(await page.locator('.warnings .warning').allInnerTexts(), ['The result is wrong in 2 rows (INT8, NF4): do not use the time.']);
  await page.locator('.grade.noisy button').focus();
  await page.locator('#explanation').getByText('Other programs used the machine. Samples depend on earlier ones').waitFor();
  await page.keyboard.press('Escape');
});

test('this machine is a choice wherever a device is chosen', { timeout: 60_000 }, async () => {
  const daemon = await startDaemon({ run: measures });
  try {
    const problems = await withPage({}, async (page) => {
      await openSite(page, '?view=plan&d=jetson_orin_nano_8gb', siteUrl);
      // Nothing is known of it yet: the view opens that connects to it.
      await page.locator('#part-device').click();
      await pick(page, 'device', 'this machine');
      await view(page);
      await page.goto(`${siteUrl}?view=measure&d=jetson_orin_nano_8gb#d=${daemon.address}&pair=${daemon.code()}`);
      await view(page);
      await press(page, 'Connect');
      await page.locator('.notes').getByText('now the device everywhere: EPYC 9654').waitFor();
      await page.getByRole('link', { name: 'Plan', exact: true }).click();
      await page.locator('#part-device').click();
      await pick(page, 'device', 'h100');
      await page.locator('#part-device').getByText('H100').waitFor();
      await pick(page, 'device', 'here');
      await page.locator('#part-device').getByText('EPYC 9654').waitFor();
    });
    assert.deepEqual(problems, []);
  } finally {
    await daemon.stop();
  }
});

test('points are drawn under the roofs of their own machine only', { timeout: 60_000 }, async () => {
  const daemon = await startDaemon({ run: measures });
  try {
    const problems = await withPage({}, async (page) => {
      await openSite(page, '?view=measure&d=jetson_orin_nano_8gb', siteUrl);
      await view(page);
      await page.locator('.no-roofs').getByText('No machine is connected').waitFor();
      assert.equal(await page.locator('#chart').count(), 0);
      const action = page.getByRole('button', { name: 'Measure and calibrate (4 min)' });
      assert.ok(await action.isDisabled());
      assert.equal(await action.evaluate((button) => document.getElementById(button.getAttribute('aria-describedby')).textContent.trim()), 'Connect a daemon first.');
      assert.deepEqual(await action.evaluate((button) => [getComputedStyle(button).cursor, getComputedStyle(button).borderTopStyle]), ['not-allowed', 'dashed']);
      await page.goto(`${siteUrl}?d=jetson_orin_nano_8gb#d=${daemon.address}&pair=${daemon.code()}`);
      await view(page);
      await press(page, 'Connect');
      await state(page, 'Connected');
      await page.locator('.connection').getByText(`${machine}, at ${daemon.address}`).waitFor();
      // The catalog has the machine, so it is selected; the reader is told and goes back.
      await page.locator('.notes').getByText('The connected machine is now the device everywhere: EPYC 9654').waitFor();
      assert.match(await page.locator('#device').inputValue(), /^EPYC 9654/);
      await page.locator('#chart').waitFor();
      await page.getByRole('link', { name: 'Plan', exact: true }).click();
      await page.locator('#part-device').getByText('EPYC 9654').waitFor();
      await page.getByRole('link', { name: 'Device', exact: true }).click();
      await state(page, 'Connected');
      await page.goBack();
      await page.goBack();
      await page.goBack();
      await page.locator('.no-roofs').getByText(`What is measured is ${machine}`).waitFor();
      await press(page, 'Measure');
      await ended(page).getByText('done').waitFor();
      assert.equal(await page.locator('#chart').count(), 0);
      assert.deepEqual([...new Set((await rows(page)).map((row) => `${row[3].trim()} ${row[4]}`))], ['– ']);
      await pick(page, 'device', 'epyc 9654');
      await page.locator('#chart').waitFor();
      assert.equal(await page.locator('.no-roofs').count(), 0);
      await pick(page, 'device', 'orin nano');
      await action.click();
      await page.locator('#history li').nth(1).waitFor();
      assert.deepEqual(daemon.jobs[1].spec, { kind: 'calibrate' });
    });
    assert.deepEqual(problems, []);
  } finally {
    await daemon.stop();
  }
});

paired('a connection lost during a job resumes where it was, without duplicate results', { lost: true, daemon: { run: (job, daemon) => {
  daemon.emit(job, { type: 'started', predicted_s: null });
  daemon.emit(job, { type: 'result', record: record('fp32', 1e-3) });
  daemon.emit(job, { type: 'result', record: record('fp16', 5e-4) });
} } }, async (page, daemon) => {
  await press(page, 'Measure');
  await page.waitForFunction(() => document.querySelectorAll('#measured tbody tr').length === 2);
  daemon.drop();
  daemon.emit(daemon.jobs[0], { type: 'result', record: record('int8', 2e-4) });
  await state(page, 'Connection lost');
  await page.getByRole('link', { name: 'Kernel' }).click(); // the connection does not depend on the view
  await page.locator('tr.chosen').waitFor();
  await page.getByRole('link', { name: 'Device', exact: true }).click();
  await state(page, 'Connected');
  daemon.emit(daemon.jobs[0], { type: 'ended', state: 'done' });
  await ended(page).getByText('done').waitFor();
  assert.deepEqual((await rows(page)).map(([what]) => what.split('\n')[0].trim()), ['FP32', 'FP16', 'INT8']);
  assert.deepEqual(daemon.heard.filter(({ type }) => type === 'subscribe_job').map(({ after }) => after), [0, 4]);
  assert.equal(daemon.heard.filter(({ type }) => type === 'start_job').length, 1);
});

paired('sensor readings update, missing ones show a reason, and messages of a later version are ignored', {}, async (page, daemon) => {
  await page.locator('#sensors').getByText('no GPU driver').waitFor();
  daemon.say({ type: 'fireworks' });
  daemon.say({ type: 'telemetry', at_ms: 2, readings: [{ name: 'load_1m', value: 1.5 }, { name: 'cpu_power_watt', value: 0 }] });
  await page.locator('#sensors').getByText('1.5').waitFor();
  assert.match(plain(await page.locator('#sensors').innerText()), /CPU power\s+0 W/);
});

test('a calibration changes the expected times, is labeled, and is in the address', { timeout: 60_000 }, async () => {
  const calibration = { device: 'epyc_9654', about: 'measured in a test', rows: [{ measured: 'kernel', op: 'gemm', eta_memory: 0.11, eta_compute: 0.11, floor_us: 1.5, low: 0.9, high: 1.1, points: 40 }] };
  const daemon = await startDaemon({ run: (job, daemon) => {
    if (job.spec.kind === 'bench') return measures(job, daemon);
    daemon.emit(job, { type: 'started', predicted_s: 90 });
    daemon.emit(job, { type: 'calibration', calibration: JSON.stringify(calibration) });
    daemon.emit(job, { type: 'ended', state: 'done' });
  } });
  try {
    const problems = await withPage({}, async (page) => {
      await pair(page, daemon);
      await press(page, 'Calibrate this machine');
      await page.locator('.calibrate').getByText('Measured factors of EPYC 9654 (96C Zen4) count now: measured in a test').waitFor();
      await page.waitForURL(/d=epyc_9654.*#s=/);
      await press(page, 'Measure');
      await ended(page).getByText('precisions, done').waitFor();
      const measured = (await rows(page)).map((row) => row[3]);
      await press(page, 'Leave them out');
      await page.waitForFunction((before) => document.querySelector('#measured tbody tr').cells[3].innerText !== before, measured[0]);
    });
    assert.deepEqual(problems, []);
  } finally {
    await daemon.stop();
  }
});

paired('results are saved as JSON and CSV', { daemon: { run: measures } }, async (page) => {
  await press(page, 'Measure');
  await ended(page).getByText('done').waitFor();
  for (const [ending, check] of [['JSON', (text) => JSON.parse(text).length === 15], ['CSV', (text) => text.trim().split('\n').length === 16]]) {
    const download = page.waitForEvent('download');
    await press(page, `Save as ${ending}`);
    const file = await download;
    assert.match(file.suggestedFilename(), new RegExp(`^ridgepoint-measured-1\\.${ending.toLowerCase()}$`));
    assert.ok(check(await readFile(await file.path(), 'utf8')), ending);
  }
});

test('offline, a message appears, and the other views still work', { timeout: 60_000 }, async () => {
  const problems = await withPage({}, async (page) => {
    await openSite(page, '', siteUrl);
    await page.route(/measure/, (route) => route.abort());
    await page.getByRole('link', { name: 'Device', exact: true }).click();
    await page.getByText('could not be fetched; try again when you are online').waitFor();
    await page.getByRole('link', { name: 'Kernel' }).click();
    await page.locator('tr.chosen').waitFor();
  });
  assert.deepEqual(problems.filter((problem) => !/measure|Failed to load resource|Failed to fetch/.test(problem)), []);
});

for (const width of [320, 390, 768, 1024, 1200, 1920]) {
  paired(`the Measure view is not wider than a window of ${width}`, { daemon: { run: measures }, page: { viewport: { width, height: 844 } } }, async (page) => {
    if (width < 900) {
      await page.locator('.summary').click();
    }
    await press(page, 'Measure');
    await ended(page).getByText('done').waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
  });
}

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [wide, phone]) {
    test(`axe finds no violation in the Measure view, ${viewport === wide ? 'wide' : 'phone'}, ${colorScheme}`, { timeout: 60_000 }, async () => {
      const daemon = await startDaemon({ run: measures });
      try {
        const problems = await withPage({ colorScheme, viewport }, async (page) => {
          await loadAxe(page);
          await openSite(page, '?view=measure', siteUrl);
          await view(page);
          await assertAccessible(page);
          await pair(page, daemon);
          if (viewport === phone) {
            await page.locator('.summary').click();
          }
          await press(page, 'Measure');
          await ended(page).getByText('done').waitFor();
          assert.equal(await verdict(page), 'Connected');
          await assertAccessible(page);
        });
        assert.deepEqual(problems, []);
      } finally {
        await daemon.stop();
      }
    });
  }
}
