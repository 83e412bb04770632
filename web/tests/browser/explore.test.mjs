// The Explore view: both questions, ranges, limits, chart, brush, table, files, a point as a scenario, the link, and the worker.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest, withPage } from './harness.mjs';
import { pick, plain, query } from './page.mjs';
import { startPlain } from './servers.mjs';

const phone = { width: 390, height: 844 };
const small = '?view=explore&batches=1,8&v=1';

const sentence = async (page) => plain(await page.locator('.explore-progress .sentence').innerText());
/** The sentence of an exploration that is done and has other words than `before`. */
async function answered(page, before = '') {
  await page.waitForFunction((before) => {
    const said = document.querySelector('.explore-progress .sentence');
    const stale = document.querySelector('.explore-answer')?.classList.contains('stale');
    return said && !said.hidden && !stale && / points in /.test(said.textContent) && said.textContent !== before;
  }, before, { timeout: 50_000 });
  return page.locator('.explore-progress .sentence').textContent();
}
async function open(page, link = small) {
  await openSite(page, link);
  return answered(page);
}
const names = (page) => page.locator('.points tbody th').evaluateAll((cells) => cells.map((cell) => cell.textContent.trim()));
const fault = (page, id) => page.locator(`#${id}-message`);

pageTest('devices for a model: the front, the best of each, and both in the link', {}, async (page) => {
  const said = plain(await open(page));
  assert.match(said, /^\d+ of \d+ devices run Llama-3\.1 8B within the limits; \d+ points are on the front\. [\d ]+ points in /);
  const front = await names(page);
  assert.ok(front.length > 3, `${front}`);
  await page.locator('#best-each').click();
  const each = await names(page);
  assert.equal(new Set(each).size, each.length, 'once each');
  assert.ok(each.length > 40 && front.every((name) => each.includes(name)));
  assert.equal(await query(page), '?view=explore&batches=1%2C8&best=each&v=1');
  await page.goBack();
  assert.deepEqual(await names(page), front);
});

pageTest('models for a device: a tab, in the link, at the power mode of the scenario', {}, async (page) => {
  const before = await open(page, `${small}&pm=15W`);
  await page.getByRole('tab', { name: 'Models for a device' }).click();
  const said = plain(await answered(page, before));
  assert.match(said, /models run on Jetson Orin Nano 8GB Super within the limits/);
  assert.match(await page.locator('h1').innerText(), /^Which model for Jetson Orin Nano 8GB Super\?$/);
  const models = await names(page);
  assert.ok(models.includes('Llama-3.1 8B') && !models.some((name) => name.includes('405B')), `${models}`);
  assert.match(await query(page), /ask=models/);
  assert.match(await page.locator('#open-in-plan').getAttribute('href'), /pm=15W/);
});

pageTest('one link opens the same exploration', {}, async (page) => {
  const link = '?view=explore&model=qwen3-8b&loss=3&rate=20&batches=1..8x2&prompts=1k%2C8k&watts=200&ex=whole&ey=memory&v=1';
  await open(page, link);
  assert.equal(await query(page), link);
  const [rows, said] = [await names(page), (await sentence(page)).replace(/ in .*/, '')];
  for (const [id, value] of [['batches', '1..8x2'], ['prompts', '1k,8k'], ['watts', '200'], ['loss', '3'], ['rate', '20'], ['ex', 'whole'], ['ey', 'memory']]) {
    assert.equal(await page.locator(`#${id}`).inputValue(), value);
  }
  await page.reload();
  await answered(page);
  assert.deepEqual([await names(page), (await sentence(page)).replace(/ in .*/, '')], [rows, said]);
});

pageTest('a point says itself, opens as a scenario in Plan with the same numbers, and Back returns', {}, async (page) => {
  await open(page, '?view=explore&batches=4&ex=throughput&ey=memory&v=1');
  await page.locator('.points tbody tr').nth(1).click();
  const said = plain(await page.locator('.point').innerText());
  const [, rate] = said.match(/([\d. ]+ token\/s) \([^)]*\) in all/);
  const [, memory] = said.match(/([\d.]+ [GM]B) of /);
  const href = await page.locator('#open-in-plan').getAttribute('href');
  await page.locator('#open-in-plan').click();
  await page.locator('main.plan').waitFor();
  assert.equal(await query(page), href);
  const cards = plain(await page.locator('.cards').innerText());
  assert.ok(cards.includes(rate), `${rate} in ${cards}`);
  assert.ok(cards.includes(memory.split(' ')[0]), `${memory} in ${cards}`);
  await page.goBack();
  await page.locator('main.explore').waitFor();
  await page.goto(new URL(href, page.url()).href);
  await page.locator('main.plan').waitFor();
  assert.ok(plain(await page.locator('.cards').innerText()).includes(rate), 'in another tab, too');
});

pageTest('the command of a point can be copied and has the ranges', {}, async (page) => {
  await open(page, '?view=explore&batches=1..8x2&prompts=1k%2C2k&v=1');
  const command = await page.locator('.point pre').innerText();
  assert.match(command, /^ridgepoint sweep --hardware \S+ (--power-mode \S+ )?--model llama-3\.1-8b --weights \S+ .*--new-tokens 128 --batch 1\.\.8x2 --prompt 1k,2k$/);
});

pageTest('pointer and arrow keys select points, and a drag narrows the table', {}, async (page) => {
  await open(page);
  const all = await names(page);
  const chart = page.locator('#front');
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  const first = plain(await page.locator('#front [role="status"]').innerText());
  assert.ok(first.startsWith(all[0]), first);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(plain(await page.locator('#front [role="status"]').innerText()), first);
  assert.equal(await page.locator('.points tr.chosen').count(), 1);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.points tr.chosen').count(), 0);

  const box = await page.locator('#front canvas').boundingBox();
  await page.mouse.move(box.x + box.width * 0.55, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2, { steps: 5 });
  await page.mouse.up();
  await page.locator('.brushed').waitFor();
  const inside = await names(page);
  assert.ok(inside.length > 0 && !inside.includes(all.at(-1)), `${inside}`);
  await page.locator('#whole-chart').click();
  assert.deepEqual(await names(page), all);
});

pageTest('the marked part and the order are in the link, for a reload, another window and Back', {}, async (page) => {
  await open(page);
  const all = await names(page);
  await page.getByRole('button', { name: 'First token', exact: true }).click();
  await page.getByRole('button', { name: 'First token', exact: true }).click();
  assert.match(await query(page), /&sort=-first&/);
  await page.locator('#front canvas').scrollIntoViewIfNeeded();
  const box = await page.locator('#front canvas').boundingBox();
  await page.mouse.move(box.x + box.width * 0.55, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2, { steps: 5 });
  await page.mouse.up();
  await page.locator('.brushed').waitFor();
  const link = await query(page);
  assert.match(link, /&sort=-first&brush=[\d.]+\.\.[\d.]+%2C[\d.]+\.\.[\d.]+&v=1$/);
  const inside = await names(page);
  assert.ok(inside.length > 0 && inside.join() !== all.join());
  await page.reload();
  await answered(page);
  assert.deepEqual(await names(page), inside);
  await page.setViewportSize(phone);
  await open(page, link);
  assert.deepEqual(await names(page), inside, 'in a window of another size');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator('#whole-chart').click();
  assert.doesNotMatch(await query(page), /brush=/);
  await page.goBack();
  await page.locator('.brushed').waitFor();
  assert.deepEqual(await names(page), inside);
  await page.locator('#ey').selectOption('memory');
  assert.doesNotMatch(await query(page), /brush=/, 'another criterion has other values');
  await open(page, '?view=explore&batches=1,8&sort=up&brush=%F0%9F%92%A9');
  assert.match(await page.locator('main.explore').innerText(), /sort=up is none of name, memory.*brush=.* is no part of the chart/s);
  assert.deepEqual(await names(page), all);
});

pageTest('the scenario of Plan is that of Explore: its users and tokens are in the line and in every row', {}, async (page) => {
  await openSite(page, '?view=plan&prompt=2048');
  await page.locator('#part-users').click();
  await page.locator('#batch').fill('16');
  await page.getByRole('navigation').getByRole('link', { name: 'Explore' }).first().click();
  await page.locator('main.explore .sentence').waitFor({ state: 'attached' });
  assert.notEqual(await sentence(page), '', 'there is a sentence from the beginning');
  await answered(page);
  const line = page.locator('.explore .scenario .line');
  assert.equal(plain(await line.innerText()), 'Llama-3.1 8B with the usual engine · 16 users · 2 048 tokens in, 128 out');
  assert.equal(await page.locator('#batches').getAttribute('placeholder'), '16');
  const users = await page.locator('.points tbody tr td:nth-child(6)').allInnerTexts();
  assert.ok(users.length > 0 && users.every((count) => count === '16'), `${users}`);
  await page.locator('#batches').fill('1..4x2');
  await page.waitForFunction(() => !/users/.test(document.querySelector('.explore .scenario .line').innerText));
});

pageTest('on a phone the table answers without scrolling sideways, and its names stay', { viewport: phone }, async (page) => {
  await open(page);
  const heads = page.locator('.points thead th');
  const edges = await heads.evaluateAll((heads) => heads.slice(0, 4).map((head) => [head.innerText.trim(), head.getBoundingClientRect().right]));
  assert.deepEqual(edges.map(([name]) => name), ['Device', 'Memory', 'Rate per user', 'First token']);
  assert.ok(edges.every(([, right]) => right <= phone.width), `${edges}`);
  const rows = await page.locator('.points tbody th').evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
  assert.ok(Math.max(...rows) < 90, `names have room: ${rows}`);
  await page.locator('.points').evaluate((table) => table.parentElement.scrollTo(400, 0));
  const left = await page.locator('.points tbody th').first().evaluate((cell) => cell.getBoundingClientRect().left);
  assert.ok(left >= 0 && left < 40, `${left}`);
});

pageTest('the table sorts both ways, has one tab stop, and arrow keys inside', {}, async (page) => {
  await open(page, '?view=explore&batches=1,8&best=each&v=1');
  await page.getByRole('button', { name: 'Device', exact: true }).click();
  const up = await names(page);
  assert.deepEqual(up, [...up].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)));
  await page.getByRole('button', { name: 'Device', exact: true }).click();
  assert.deepEqual(await names(page), [...up].reverse());
  assert.equal(await page.locator('.points thead th').first().getAttribute('aria-sort'), 'descending');
  assert.equal(await page.locator('.points [tabindex="0"]').count(), 1);
  const focused = () => page.evaluate(() => document.activeElement.id);
  await page.locator('#head-0').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(), 'head-1');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'point-1');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal((await page.locator('.points tr.chosen th').innerText()).trim(), (await names(page))[1]);
  assert.equal(await page.locator('.points [tabindex="0"]').count(), 1);
});

pageTest('a wrong input is said beside its field, in view, and the last answer is dimmed', {}, async (page) => {
  const before = await open(page);
  const inView = (locator) => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  for (const [id, text, says] of [
    ['batches', '1..x', /`1\.\.x` is not a range/],
    ['batches', '0', /Batch must be a whole number from 1/],
    ['prompts', '1..9000', /9 000 combinations; at most 4 096/],
    ['watts', 'much', /watts above 0/],
    ['ttft', '-1', /First token must be/],
  ]) {
    await page.locator(`#${id}`).fill(text);
    await page.waitForFunction(() => document.querySelector('.explore-answer').classList.contains('stale'));
    assert.match(plain(await fault(page, id).innerText()), says);
    assert.equal(await page.locator(`#${id}`).getAttribute('aria-invalid'), 'true');
    assert.ok(await inView(fault(page, id)), id);
    await page.locator(`#${id}`).fill(id === 'batches' ? '1,8' : '');
    await answered(page);
  }
  assert.equal((await sentence(page)).replace(/ in .*/, ''), plain(before).replace(/ in .*/, ''));
  await openSite(page, '?view=explore&ask=all&ex=%F0%9F%92%A9&batches=%00&best=x&watts=1e400&prompts=%3Cscript%3E');
  assert.match(await page.locator('main.explore').innerText(), /ask=all is none of devices, models/);
  assert.match(plain(await fault(page, 'ex').innerText()), /none of whole, rate/);
});

pageTest('all points are saved as CSV and JSON', {}, async (page) => {
  await open(page);
  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
  };
  const [name, csv] = await saved('Save as CSV');
  assert.equal(name, 'ridgepoint-explore.csv');
  const lines = csv.trim().split('\n');
  assert.match(lines[0], /^hardware,power_mode,model,scheme,batch,prompt,ttft_s,/);
  const [, json] = await saved('Save as JSON');
  assert.equal(JSON.parse(json).length, lines.length - 1);
  assert.ok(JSON.parse(json).every((row) => row.model === 'llama-3.1-8b'));
});

pageTest('a million points are compared, and the page stays responsive meanwhile', {}, async (page) => {
  await open(page);
  await page.evaluate(() => {
    globalThis.longest = 0;
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
      setTimeout(tick);
    };
    tick();
  });
  const before = await page.locator('.explore-progress .sentence').textContent();
  const start = Date.now();
  await page.locator('#prompts').fill('1k..64kx2');
  await page.locator('#batches').fill('1..128');
  await page.waitForFunction(() => Number(document.querySelector('.explore-progress .sentence').textContent.match(/([\d\u202f]+) points in/)?.[1].replaceAll('\u202f', '')) > 1e6);
  const said = plain(await answered(page, before));
  const whole = Date.now() - start;
  const longest = await page.evaluate(() => globalThis.longest);
  const points = Number(said.match(/([\d ]+) points in/)[1].replaceAll(' ', ''));
  const [, number, prefix] = said.match(/in ([\d.]+) (m?)s\.$/);
  const time = Number(number) * (prefix ? 1 : 1000);
  console.log(`${points} points in ${time} ms, ${Math.round(points / time)} points a millisecond; ${whole} ms from typing to the table; the page waited ${longest.toFixed(0)} ms at most`);
  // Both grow with the load of the machine; an exploration in the page itself would hold it up for all of its time.
  assert.ok(longest < time, `${longest} ms of ${time} ms`);
});

pageTest('a stopped exploration shows what it has', {}, async (page) => {
  await open(page);
  await page.evaluate(() => { // clicks at the first sign of progress
    const bar = document.querySelector('.explore progress');
    new MutationObserver(() => bar.value > 3 && document.querySelector('#explore-stop').click()).observe(bar, { attributes: true });
  });
  await page.locator('#batches').fill('1..256');
  await page.waitForFunction(() => /^Stopped with \d+ devices to go\. /.test(document.querySelector('.explore-progress .sentence').textContent));
});

pageTest('a device and a model of the user are compared too', {}, async (page) => {
  await openSite(page, '?view=model');
  await page.locator('summary', { hasText: 'A model of your own' }).click();
  for (const name of ['custom-model.json', 'custom-device.json']) {
    const { hash } = new URL(page.url());
    await page.locator('#file').setInputFiles(fileURLToPath(new URL(`../../../docs/examples/${name}`, import.meta.url)));
    await page.waitForFunction((hash) => location.hash !== hash && location.hash !== '', hash);
  }
  const device = await page.locator('#device').inputValue();
  await page.getByRole('link', { name: 'Explore all devices, or all models for this one' }).click();
  const before = await answered(page);
  await page.locator('#best-each').click();
  assert.ok((await names(page)).includes(device), device);
  await page.getByRole('tab', { name: 'Models for a device' }).click();
  await answered(page, before);
  assert.match(await page.locator('h1').innerText(), new RegExp(device.slice(0, 10)));
});

pageTest('the parts that stay the same are changed in the line above', {}, async (page) => {
  const before = await open(page);
  await page.locator('#part-model').click();
  await page.locator('#model').waitFor();
  await pick(page, 'model', 'qwen3 4b');
  assert.match(plain(await answered(page, before)), /run Qwen3 4B/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#part-model').getAttribute('aria-expanded'), 'false');
});

pageTest('every field is reached by Tab', {}, async (page) => {
  await open(page);
  const reached = new Set();
  await page.locator('h1').evaluate((element) => { element.tabIndex = -1; element.focus(); });
  for (let press = 0; press < 40; press += 1) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of ['ask-devices', 'part-model', 'batches', 'prompts', 'ex', 'ey', 'loss', 'ttft', 'tpot', 'rate', 'watts', 'front', 'open-in-plan', 'best-front', 'head-0']) {
    assert.ok(reached.has(id), `${id} in ${[...reached]}`);
  }
  await page.locator('#ask-devices').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'ask-models');
});

pageTest('a page without the worker, as plain Trunk builds it, shows a message', {}, async (page) => {
  await page.addInitScript(() => Object.defineProperty(globalThis, 'ridgepointExplore', { get: () => undefined, set: () => {} }));
  await openSite(page, small);
  await page.getByText('cargo xtask serve makes one that can').waitFor();
});

for (const file of [/explore-worker/, /split_sweep/]) {
  test(`offline, without ${file.source}, a message appears, and the next click tries again`, { timeout: 60_000 }, async () => {
    const problems = await withPage({ serviceWorkers: 'block' }, async (page) => {
      await page.context().route(file, (route) => route.abort());
      await openSite(page, small);
      await page.getByText('could not be fetched; try again when you are online').waitFor();
      await page.context().unroute(file);
      await page.locator('#explore-again').click();
      await answered(page);
    });
    assert.deepEqual(problems.filter((problem) => !/explore|sweep|fetch|Failed to load resource/.test(problem)), []);
  });
}

test('it works from a folder of a plain server', { timeout: 60_000 }, async () => {
  const { cpSync, mkdtempSync, rmSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const root = mkdtempSync(join(tmpdir(), 'ridgepoint-'));
  cpSync(process.env.RIDGEPOINT_SITE, join(root, 'some', 'folder'), { recursive: true });
  const server = await startPlain(root);
  try {
    const problems = await withPage({}, async (page) => {
      await openSite(page, small, `${server.url}some/folder/`);
      await answered(page);
    });
    assert.deepEqual(problems, []);
  } finally {
    await server.stop();
    rmSync(root, { recursive: true });
  }
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [{ width: 1440, height: 900 }, phone, { width: 320, height: 700 }]) {
    pageTest(`axe finds nothing and nothing is wider than the window, ${viewport.width}, ${colorScheme}`, { colorScheme, viewport }, async (page) => {
      await loadAxe(page);
      await open(page);
      await page.locator('.points tbody tr').first().click();
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width);
      await assertAccessible(page);
      await page.locator('#batches').fill('x');
      await page.waitForFunction(() => document.querySelector('.explore-answer').classList.contains('stale'));
      await assertAccessible(page);
      const place = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Explore' });
      const box = await place.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width && (viewport.width > 767 || box.y > viewport.height - 60), JSON.stringify(box));
    });
  }
}
