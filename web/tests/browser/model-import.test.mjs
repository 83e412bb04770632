// Import of the user's own model: opened, pasted, dropped, or fetched from the hub on a click, with simulated responses.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSite, pageTest, siteUrl, withPage } from './harness.mjs';
import { plain, query, verdict } from './page.mjs';

const path = fileURLToPath(new URL('../../../docs/examples/custom-model.json', import.meta.url));
const config = await readFile(path, 'utf8');
const open = async (page) => {
  await openSite(page, '?view=model&d=h100_sxm');
  await page.locator('summary', { hasText: 'A model of your own' }).click();
};
const model = (page) => page.locator('#model').inputValue();
const message = async (page) => plain(await page.locator('#import-message').innerText());

/** Drops a file on the page. */
function drop(page, name, content, unreadable = false) {
  return page.evaluate(([name, content, unreadable]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], name));
    if (unreadable) { // like Chromium with a folder
      File.prototype.text = () => Promise.reject(new DOMException('A folder.', 'NotFoundError'));
    }
    document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, [...Buffer.from(content)], unreadable]);
}

pageTest('an opened config.json is estimated, and its address alone restores it', {}, async (page) => {
  await open(page);
  await page.locator('#file').setInputFiles(path);
  await page.waitForURL(/#s=/);
  assert.equal(await model(page), 'custom-model.json');
  const [sentence, memory] = [await verdict(page), await page.locator('.memory').innerText()];
  await page.goBack();
  assert.match(await model(page), /Llama/);
  await page.goForward();
  assert.equal(await model(page), 'custom-model.json');
  await page.waitForLoadState('networkidle');
  await page.reload();
  await page.locator('main').waitFor();
  assert.equal(await model(page), 'custom-model.json');
  assert.deepEqual([await verdict(page), await page.locator('.memory').innerText()], [sentence, memory]);
  assert.equal(await page.locator('.notes li').count(), 0);
});

pageTest('a pasted config.json is estimated, and the text stays', {}, async (page) => {
  await open(page);
  await page.locator('#paste').fill(config);
  await page.getByRole('button', { name: 'Use what is pasted' }).click();
  await page.waitForURL(/#s=/);
  assert.match(plain(await page.locator('.inputs').innerText()), /1\.15 B parameters/);
  assert.equal(await page.locator('#paste').inputValue(), config);
});

pageTest('an invalid pasted text has a message at the field, and stays', {}, async (page) => {
  await open(page);
  const before = await verdict(page);
  for (const [text, says] of [['', /empty/], ['{"model_type": "llama"', /ends too early/], ['hello', /begins with \{/], ['{"model_type":"vit"}', /pasted config\.json: /], [`{"x":"${'y'.repeat(1_000_000)}"}`, /model_type/]]) {
    await page.locator('#paste').fill(text);
    await page.getByRole('button', { name: 'Use what is pasted' }).click();
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#import-message').textContent), says.source);
    assert.equal(await page.locator('#paste').inputValue(), text);
    assert.equal(await verdict(page), before);
    assert.equal(await page.locator('.answer.stale').count(), 1);
    await page.locator('#stale p').waitFor();
    assert.match(plain(await page.locator('#stale').innerText()), /^pasted config\.json was not taken\. What is below is still of Llama-3\.1 8B\./);
  }
  assert.equal(await page.locator('.limits.stale').count(), 1, 'the advice is of the model before, too');
});

pageTest('a config.json can be dropped anywhere', {}, async (page) => {
  await open(page);
  await drop(page, 'dropped.json', config);
  await page.waitForURL(/#s=/);
  assert.equal(await model(page), 'dropped.json');
});

for (const [what, name, content, unreadable, says] of [
  ['an image', 'photo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa, 0, 0, 0]), false, /photo\.png: .*begins with/],
  ['a folder', 'models', '', true, /models cannot be read; a folder is no file/],
]) {
  pageTest(`${what} that is dropped is refused with a message, and the page stays`, {}, async (page) => {
    await open(page);
    const before = await verdict(page);
    await drop(page, name, content, unreadable);
    await page.waitForFunction(() => document.querySelector('#import-message').textContent !== '');
    assert.match(await message(page), says);
    assert.equal(await verdict(page), before);
    assert.ok(page.url().startsWith(siteUrl));
  });
}

/** Defines a test in which `reply` is the hub's response. Chromium reports refused requests; no other report is allowed. */
function hubTest(name, reply, body) {
  test(name, { timeout: 60_000 }, async () => {
    const asked = [];
    const problems = await withPage({}, async (page) => {
      await page.route('https://huggingface.co/**', (route) => {
        asked.push(route.request());
        return reply(route);
      });
      await open(page);
      assert.equal(asked.length, 0, 'nothing is asked before the click');
      await body(page, asked);
    });
    assert.deepEqual(problems.filter((problem) => !/Failed to load resource|https:\/\/huggingface\.co\//.test(problem)), []);
  });
}

const headers = { 'access-control-allow-origin': '*' };
const ask = async (page, id) => {
  await page.locator('#hub').fill(id);
  await page.getByRole('button', { name: 'Fetch config.json from huggingface.co' }).click();
};
const said = (page) => page.waitForFunction(() => document.querySelector('#import-message').textContent !== '');

hubTest('an id is fetched on a click, without credentials or referrer', (route) => route.fulfill({ status: 200, headers, body: config }), async (page, asked) => {
  await ask(page, 'somebody/something');
  await page.waitForURL(/#s=/);
  assert.equal(await model(page), 'somebody/something');
  assert.deepEqual(asked.map((request) => request.url()), ['https://huggingface.co/somebody/something/resolve/main/config.json']);
  const sent = await asked[0].allHeaders();
  assert.equal(sent.cookie, undefined);
  assert.equal(sent.referer, undefined);
});

for (const [status, says] of [[401, /accepted its license.*paste the config\.json/], [403, /license/], [404, /no config\.json under this id/], [500, /answered with 500/]]) {
  hubTest(`a response of ${status} shows what to do`, (route) => route.fulfill({ status, headers, body: 'no' }), async (page) => {
    const before = await verdict(page);
    await ask(page, 'meta-llama/Llama-3.1-8B');
    await said(page);
    assert.match(await message(page), says);
    assert.equal(await page.locator('#hub').inputValue(), 'meta-llama/Llama-3.1-8B');
    assert.equal(await verdict(page), before);
    assert.doesNotMatch(page.url(), /#s=/);
  });
}

hubTest('offline, a message appears', (route) => route.abort('internetdisconnected'), async (page) => {
  await ask(page, 'somebody/something');
  await said(page);
  assert.match(await message(page), /cannot be reached.*paste or open/);
});

hubTest('an invalid id is refused before any request', (route) => route.fulfill({ status: 200, headers, body: config }), async (page, asked) => {
  for (const id of ['', 'llama', '../../etc/passwd', 'a/b?c', 'https://example.com/a/b', 'a/b/c']) {
    await ask(page, id);
    await said(page);
    assert.match(await message(page), /An id is an owner and a name/);
  }
  assert.equal(asked.length, 0);
});

hubTest('the hub response is read like any file', (route) => route.fulfill({ status: 200, headers, body: '<html>' }), async (page) => {
  await ask(page, 'somebody/something');
  await said(page);
  assert.match(await message(page), /somebody\/something: .*begins with \{/);
});
