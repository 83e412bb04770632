// Weight files on the page: chosen and dropped files, of which only headers are read, and a hub on this machine in place of Hugging
// Face's, which sends ranges, ignores them, redirects or refuses.
import assert from 'node:assert/strict';
import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gguf, llamaKeys, llamaTensors, shards } from './gguf.mjs';
import { openSite, pageTest, withPage } from './harness.mjs';
import { plain } from './page.mjs';

const small = gguf(llamaKeys(4), llamaTensors(4));
const table = async (page) => plain(await page.locator('.tensors').innerText()).replaceAll(/\s+/g, ' ');
const message = async (page) => plain(await page.locator('#import-message').innerText());
const model = (page) => page.locator('#model').inputValue();

let folder;
before(async () => { folder = await mkdtemp(join(tmpdir(), 'weights-')); });
after(() => rm(folder, { recursive: true }));

/** Writes a header, and zeros that take no space. */
async function store(name, { start, bytes }) {
  const path = join(folder, name);
  await writeFile(path, start);
  const file = await openFile(path, 'r+');
  await file.truncate(bytes);
  await file.close();
  return path;
}

const open = async (page, view = '?view=model&d=rtx_4090') => {
  await openSite(page, view);
  await page.locator('summary', { hasText: 'A model of your own' }).click();
};
const said = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#import-message').textContent), pattern.source);

pageTest('a GGUF file has its own bytes by role, and its address alone restores them', {}, async (page) => {
  await open(page);
  await page.locator('#file').setInputFiles(await store('small-Q4_K_M.gguf', small));
  await page.locator('.tensors').waitFor();
  assert.equal(await model(page), 'small-Q4_K_M.gguf');
  const shown = await table(page);
  for (const part of ['72.3 MB in 39 tensors', 'Q4_K 18.4 MB', '26.9 MB', 'Q4_K 5.60 MB, Q6_K 430 kB', 'lm head']) {
    assert.ok(shown.includes(part), `${part} in ${shown}`);
  }
  const memory = plain(await page.locator('.memory').innerText());
  // The input embedding, 18.4 MB, lies beside the card in llama.cpp.
  assert.match(memory, /53\.9 MB/);
  assert.match(plain(await page.locator('main').innerText()), /weight bytes are those of the files: 72\.3 MB, 45\.3 MB of it embedding and LM head/);
  await page.waitForURL(/#s=/);
  await page.waitForLoadState('networkidle');
  await page.reload();
  await page.locator('.tensors').waitFor();
  assert.deepEqual([await table(page), plain(await page.locator('.memory').innerText())], [shown, memory]);
  assert.equal(await page.locator('.notes li').count(), 0);
});

pageTest('another format has the bytes of that format', {}, async (page) => {
  await open(page);
  await page.locator('#file').setInputFiles(await store('other.gguf', small));
  await page.locator('.tensors').waitFor();
  await page.waitForURL(/#s=/);
  await page.goto(page.url().replace('?', '?weights=fp16&'));
  await page.locator('.tensors').waitFor();
  assert.match(await table(page), /the estimate is of another geometry or other formats/);
  assert.match(plain(await page.locator('.memory').innerText()), /156 MB/);
});

pageTest('a file of 5 GB takes less than a second, and its weights are not read', {}, async (page) => {
  const large = gguf(llamaKeys(4), [...llamaTensors(4), ['blk.0.ffn_up_exps.weight', [640, 4096, 2048], 'Q8_0']]);
  assert.ok(large.bytes > 5e9);
  const path = await store('large.gguf', large);
  await open(page);
  await page.locator('#file').setInputFiles(await store('first.gguf', small));
  await page.locator('.tensors').waitFor(); // the chunk is there
  await page.evaluate(() => {
    globalThis.readBytes = 0;
    const slice = Blob.prototype.slice;
    Blob.prototype.slice = function (from, to, ...rest) {
      globalThis.readBytes += to - from;
      return slice.call(this, from, to, ...rest);
    };
  });
  const input = page.locator('#file');
  await input.setInputFiles(path);
  await page.waitForFunction(() => document.querySelector('#model').value === 'large.gguf');
  assert.equal(await page.evaluate(() => globalThis.readBytes), 1 << 20);
  assert.match(await table(page), /experts 1 5.368.709.120/);
});

pageTest('shards are taken with their index and config, dropped anywhere, also in Plan', {}, async (page) => {
  await openSite(page, '?view=plan&d=rtx_4090');
  await page.locator('.inspector, aside').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, start, bytes] of files) {
      data.items.add(new File([new Uint8Array(start), new Uint8Array(bytes - start.length)], name));
    }
    document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, Object.entries(shards()).map(([name, { start, bytes }]) => [name, [...start], bytes]));
  await page.waitForURL(/#s=/);
  assert.match(plain(await page.locator('main').innerText()), /176 MB|model/);
});

pageTest('what is not one model is refused by name, and the page stays', {}, async (page) => {
  await open(page);
  const before = plain(await page.locator('.memory').innerText());
  const [first] = Object.entries(shards()).filter(([name]) => name.endsWith('1-of-00002.safetensors'));
  const other = Buffer.from('hello, this is a text');
  for (const [files, says] of [
    [[['m-00001-of-00002.gguf', small]], /m-00002-of-00002\.gguf is missing; open all 2 files/],
    [[first], /model-00002-of-00002\.safetensors is missing/],
    [[['a.gguf', small], ['b.gguf', small]], /several GGUF models: a\.gguf, b\.gguf/],
    [[['x.gguf', { start: other, bytes: other.length }]], /neither GGUF nor safetensors/],
    [[['cut.gguf', { start: small.start.subarray(0, 500), bytes: 500 }]], /ends inside its header/],
    [[['short.gguf', { start: small.start, bytes: small.bytes - 4096 }]], /is the download complete/],
  ]) {
    await page.locator('#file').setInputFiles(await Promise.all(files.map(([name, file]) => store(name, file))));
    await said(page, says);
    assert.equal(plain(await page.locator('.memory').innerText()), before);
  }
  assert.doesNotMatch(page.url(), /#s=/);
});

/** A hub on this machine. `mode` says how it answers requests for weights; `log` has every request. */
async function hub(files, mode) {
  const log = [];
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'range' };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://hub');
    log.push({ path: pathname, range: request.headers.range, cookie: request.headers.cookie, referrer: request.headers.referer, sent: 0 });
    const entry = log.at(-1);
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    if (pathname.startsWith('/api/')) {
      const list = Object.entries(files).map(([path, { bytes }]) => ({ type: 'file', path, size: bytes }));
      return mode === 'gated' ? response.writeHead(401, cors).end('{}') : response.writeHead(200, cors).end(JSON.stringify(list));
    }
    if (mode === 'missing') return response.writeHead(404, cors).end();
    if (mode === 'redirect' && !pathname.startsWith('/storage/')) {
      return response.writeHead(302, { ...cors, location: `/storage${pathname}` }).end();
    }
    const file = files[pathname.split('/resolve/main/')[1]];
    const [from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '')?.slice(1).map(Number) ?? [0, file.bytes - 1];
    const part = (at, end) => Buffer.concat([file.start.subarray(at, end), Buffer.alloc(Math.max(end - Math.max(at, file.start.length), 0))]);
    if (mode !== 'whole') {
      entry.sent = Math.min(to + 1, file.bytes) - from;
      return response.writeHead(206, { ...cors, 'content-range': `bytes ${from}-${to}/${file.bytes}` }).end(part(from, from + entry.sent));
    }
    // All of the file, as fast as the other side reads.
    response.writeHead(200, { ...cors, 'content-length': file.bytes });
    for (let at = 0; at < file.bytes && !response.destroyed; at += 1 << 18) {
      const end = Math.min(at + (1 << 18), file.bytes);
      if (!response.write(part(at, end))) {
        await new Promise((resolve) => { response.once('drain', resolve); response.once('close', resolve); });
      }
      entry.sent = end;
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { log, address: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() ?? server.close() };
}

/** Defines a test whose page asks a hub on this machine in place of huggingface.co; the smoke test holds the policy on hosts. */
function hubTest(name, files, mode, body) {
  test(name, { timeout: 60_000 }, async () => {
    const served = await hub(files, mode);
    const problems = await withPage({ bypassCSP: true }, async (page) => {
      await page.addInitScript((address) => {
        const { fetch } = globalThis;
        globalThis.fetch = (url, ...rest) => fetch(String(url).replace(/^https:\/\/huggingface\.co/, address), ...rest);
      }, served.address);
      await open(page);
      assert.equal(served.log.length, 0, 'nothing is asked before the click');
      await body(page, served.log);
    }).finally(served.close);
    // Chromium reports refused responses, and requests that the page stops.
    assert.deepEqual(problems.filter((problem) => !problem.includes('127.0.0.1') && !/Failed to load resource/.test(problem)), []);
  });
}

const ask = async (page, id) => {
  await page.locator('#hub').fill(id);
  await page.getByRole('button', { name: 'Read weights from huggingface.co' }).click();
};
const large = gguf(llamaKeys(4), [...llamaTensors(4), ['blk.0.ffn_up_exps.weight', [640, 4096, 2048], 'Q8_0']]);
const repository = { 'm-Q4_K_M.gguf': small, 'm-Q8_0.gguf': large, 'mmproj-F16.gguf': small, 'README.md': { start: Buffer.from('x'), bytes: 1 } };

hubTest('a repository with several models offers them, and one is read by its first bytes', repository, 'ranges', async (page, log) => {
  await ask(page, 'owner/name-GGUF');
  await page.locator('#hub-offers').getByRole('button', { name: 'm-Q4_K_M.gguf' }).click();
  await page.waitForURL(/#s=/);
  assert.equal(await model(page), 'owner/name-GGUF/m-Q4_K_M.gguf');
  assert.match(await table(page), /72\.3 MB in 39 tensors/);
  const read = log.filter(({ path }) => path.includes('/resolve/'));
  assert.deepEqual(read.map(({ path, range }) => [path, range]), [['/owner/name-GGUF/resolve/main/m-Q4_K_M.gguf', 'bytes=0-1048575']]);
  assert.ok(log.every(({ cookie, referrer }) => cookie === undefined && referrer === undefined));
});

for (const mode of ['ranges', 'whole', 'redirect']) {
  hubTest(`5 GB behind a server with ${mode} cost the header`, repository, mode, async (page, log) => {
    await ask(page, 'https://huggingface.co/owner/name-GGUF/blob/main/m-Q8_0.gguf');
    await page.waitForURL(/#s=/);
    assert.match(await table(page), /experts 1 5.368.709.120/);
    const sent = log.reduce((all, entry) => all + entry.sent, 0);
    assert.ok(sent < 32e6, `${sent} bytes were sent`);
    assert.equal(log.some(({ path }) => path.startsWith('/storage/')), mode === 'redirect');
  });
}

hubTest('shards of safetensors come with index and config', shards(), 'redirect', async (page) => {
  await ask(page, 'owner/name');
  await page.waitForURL(/#s=/);
  assert.equal(await model(page), 'owner/name');
  assert.match(await table(page), /176 MB in 21 tensors/);
});

for (const [mode, id, says] of [
  ['gated', 'owner/name', /accepted its license.*open its files here/],
  ['missing', 'owner/name:Q4_K_M', /has no such model or file/],
  ['ranges', 'owner/name:IQ2_M', /no file of a model there has `IQ2_M` in its name/],
  ['ranges', 'owner', /An id is an owner and a name/],
]) {
  hubTest(`${id} with ${mode} is refused in a sentence`, repository, mode, async (page) => {
    await ask(page, id);
    await said(page, says);
    assert.doesNotMatch(page.url(), /#s=/);
  });
}

test('without a network a sentence says so', { timeout: 60_000 }, async () => {
  await withPage({}, async (page) => {
    await page.route('https://huggingface.co/**', (route) => route.abort('internetdisconnected'));
    await open(page);
    await ask(page, 'owner/name');
    await said(page, /cannot be reached from here\. Offline, open the files/);
  });
});
