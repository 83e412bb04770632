// The Model view: inputs, answer, address, invalid input, keyboard, both widths and colors. Import from files and from the
// hub is tested in model-import.test.mjs, the duration of a change in model-speed.test.mjs.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query, type, verdict } from './page.mjs';

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const open = (page, more = '') => openSite(page, `?view=model${more}`);
const memory = async (page) => plain(await page.locator('.memory').innerText());
const figures = (page) => page.locator('table.figures tbody tr').evaluateAll((rows) => rows.map((row) => row.innerText));
const unfold = (page, name) => page.locator('summary', { hasText: name }).click();

pageTest('the default model does not fit, and one click makes it fit', {}, async (page) => {
  await open(page);
  assert.match(await verdict(page), /^Does not fit in BF16: .* GB short of .* GB usable\.$/);
  await page.getByRole('button', { name: 'Weights in INT4 g128' }).click();
  assert.match(await verdict(page), /^Fits, and DRAM limits decode: .* token\/s expected over 128 new tokens\.$/);
  assert.match(await query(page), /weights=int4_g128/);
  assert.match(await memory(page), /There is room for a batch of/);
  await page.goBack();
  assert.match(await verdict(page), /^Does not fit/);
});

pageTest('a model is found and chosen by keyboard alone', {}, async (page) => {
  await open(page);
  await page.locator('#model').focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#model').getAttribute('aria-expanded'), 'true');
  await page.keyboard.type('deepseek v3');
  await page.keyboard.press('Enter');
  assert.match(await query(page), /model=deepseek-v3/);
  assert.match(plain(await page.locator('.inputs').innerText()), /671 B, active 37\.6 B parameters/);
  assert.equal(await page.locator('#experts').isVisible(), true, 'experts have a format of their own');
  await pick(page, 'model', 'phi-2');
  assert.equal(await page.locator('#experts').isVisible(), false);
});

pageTest('the engine moves the expected rate and stands in the address', {}, async (page) => {
  await open(page, '&d=rtx_4090&weights=int4_g128');
  const usual = await verdict(page);
  assert.match(await page.locator('#engine option').first().innerText(), /vllm, usual here/);
  await page.locator('#engine').selectOption('llama.cpp');
  assert.match(await query(page), /engine=llama.cpp/);
  assert.notEqual(await verdict(page), usual);
  await page.goBack();
  assert.equal(await verdict(page), usual);
  assert.equal(await page.locator('#engine').inputValue(), '');
});

const everything =
  '?view=model&d=h100_sxm&model=deepseek-v3&batch=8&prompt=2048&context=3000&generate=64&tp=8&pp=2&ep=4&memory=70&wbits=6.5&draft=3&accept=0.6&dm=llama-3.2-1b&engine=vllm' +
  '&layers=40&hidden=7168&heads=64&ffn=16384&vocab=100000&nexperts=128&topk=4&expertsize=1024&window=2048&tied=1' +
  '&weights=fp8_e4m3&experts=int4_g128&acts=fp8_e4m3&kv=fp8_e4m3&emb=bf16&v=1';

pageTest('a link with every key sets every input, and is written back unchanged', {}, async (page) => {
  await openSite(page, everything);
  assert.equal(await page.locator('.notes li').count(), 0);
  assert.match(await page.locator('#model').inputValue(), /DeepSeek-V3/);
  for (const [id, value] of new URLSearchParams(everything)) {
    if (!['view', 'd', 'v', 'model', 'tied', 'dm', 'weights', 'experts', 'acts', 'kv', 'emb'].includes(id)) {
      assert.equal(await page.locator(`#${id}`).inputValue(), value, id);
    }
  }
  assert.equal(await page.locator('#tied').isChecked(), true);
  assert.equal(await page.locator('#kv').inputValue(), 'FP8 E4M3');
  assert.equal(await page.locator('.answer.stale').count(), 0);
  const before = await figures(page);
  await type(page, 'batch', '9');
  await type(page, 'batch', '8');
  assert.deepEqual(Object.fromEntries(new URLSearchParams(await query(page))), Object.fromEntries(new URLSearchParams(everything)));
  await page.reload();
  await page.locator('main').waitFor();
  assert.deepEqual(await figures(page), before);
});

pageTest('choices and typing add history entries', {}, async (page) => {
  await open(page);
  await type(page, 'batch', '16');
  await pick(page, 'model', 'llama-3.1-70b');
  await pick(page, 'weights', 'int4_g128');
  const [sentence, numbers] = [await verdict(page), await figures(page)];
  await page.goBack();
  assert.doesNotMatch(await query(page), /weights/);
  await page.goBack();
  assert.match(await query(page), /batch=16/);
  assert.match(await page.locator('#model').inputValue(), /Llama-3\.1 8B/);
  await page.goForward();
  await page.goForward();
  assert.deepEqual([await verdict(page), await figures(page)], [sentence, numbers]);
});

pageTest('the views share the device', {}, async (page) => {
  await open(page);
  await pick(page, 'device', 'h100_sxm');
  await page.getByRole('link', { name: 'Kernel' }).click();
  assert.match(await page.locator('#device').inputValue(), /^H100 SXM/);
  await page.getByRole('link', { name: 'Model' }).click();
  assert.match(await page.locator('#device').inputValue(), /^H100 SXM/);
  assert.match(await verdict(page), /^Fits/);
});

for (const [id, text, says, fold] of [
  ['batch', 'many', /Batch must be a whole number from 1 to 1 000 000\./],
  ['prompt', '', /Prompt must be a whole number/],
  ['context', '-1', /Context must be a whole number from 0 to .*, or empty\./],
  ['memory', 'x', /Memory limit must be a number/, 'Memory, devices, drafts'],
  ['tp', '3', /tensor_parallel 3 does not divide attention heads \(32\)\./, 'Memory, devices, drafts'],
  ['ep', '2', /expert_parallel does not apply to a model without experts/, 'Memory, devices, drafts'],
  ['kvheads', '5', /does not divide/, 'Change its numbers'],
]) {
  pageTest(`${id} = "${text}" is marked, and the last valid answer stays`, {}, async (page) => {
    await open(page, '&d=h100_sxm');
    const before = [await verdict(page), await figures(page)];
    if (fold) {
      await unfold(page, fold);
    }
    await type(page, id, text);
    const field = page.locator(`#${id}`);
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.match(plain(await page.locator(`#${await field.getAttribute('aria-describedby')}`).innerText()), says);
    assert.equal(await page.locator('.answer.stale').count(), 1);
    assert.deepEqual([await verdict(page), await figures(page)], before);
    assert.equal(await field.inputValue(), text);
    await field.fill(id === 'batch' || id === 'prompt' ? '2' : '');
    if (id === 'tp' || id === 'ep') {
      await field.fill('1');
    }
    assert.equal(await page.locator('.answer.stale').count(), 0);
  });
}

pageTest('formats that the device cannot compute are refused with a message', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  const before = await figures(page);
  await pick(page, 'device', 't4');
  await pick(page, 'weights', 'fp64');
  assert.match(await page.locator('.said .why-stale').innerText(), /fp64/);
  assert.notDeepEqual(await figures(page), before, 'the answer before this one stays, that of the T4');
});

pageTest('invalid values in the address are named in notes, and invalid numbers are marked at their fields', {}, async (page) => {
  await open(page, '&model=llama-9&weights=int4_g&acts=nf4&geometry=1.2&stored=x&tied=maybe&batch=0&q=1');
  const notes = (await page.locator('.notes li span').allInnerTexts()).map(plain);
  for (const pattern of [/model=llama-9.*no model/, /weights=int4_g.*int4_g128/, /acts=nf4.*weights only/, /geometry=1\.2/, /stored=x/, /tied=maybe/, /q=1/]) {
    assert.ok(notes.some((note) => pattern.test(note)), `${pattern} in ${notes}`);
  }
  assert.equal(await page.locator('#batch').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.locator('#batch').inputValue(), '0');
});

for (const [key, id] of [['wbits', 'wbits'], ['tp', 'tp'], ['accept', 'accept'], ['kvheads', 'kvheads']]) {
  pageTest(`an invalid ${key} in a link opens the section of its field and, on a phone, the inputs`, { viewport: phone }, async (page) => {
    await open(page, `&${key}=-99`);
    const field = page.locator(`#${id}`);
    await field.waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.ok((await page.locator(`#${id}-message`).innerText()).length > 20);
    await page.locator('summary').filter({ has: page.locator(`xpath=..//input[@id="${id}"]`) }).first().click();
    assert.equal(await field.isVisible(), false, 'the reader can fold it again');
  });
}

pageTest('the geometry editor changes a copy, and a button restores the model', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  const before = await figures(page);
  await unfold(page, 'Change its numbers');
  assert.equal(await page.locator('#layers').getAttribute('placeholder'), '32');
  await type(page, 'layers', '16');
  assert.match(await query(page), /layers=16/);
  assert.match(plain(await page.locator('.inputs').innerText()), /4\.54 B parameters · changed/);
  assert.notDeepEqual(await figures(page), before);
  await page.getByRole('button', { name: 'Back to Llama-3.1 8B' }).click();
  assert.doesNotMatch(await query(page), /layers/);
  assert.deepEqual(await figures(page), before);
});

pageTest('the chart and the tables highlight the same operator', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await page.locator('#chart [role=status]').innerText()), /^\w+, Prefill: .*FLOP\/B.*of the time, limited by/);
  assert.equal(await page.locator('tr.pointed').count(), 1);
  await page.keyboard.press('End');
  assert.match(plain(await page.locator('#chart [role=status]').innerText()), /^lm_head, Decode/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('tr.pointed').count(), 0);
  await page.locator('#decode-qkv').focus();
  assert.equal(await page.locator('tr.pointed').count(), 1);
  await page.locator('#explanation').waitFor();
  assert.match(plain(await page.locator('#explanation').innerText()), /project to queries, keys and values.*32 instances/s);
});

for (const [view, place] of [['model', ''], ['plan', '&tab=operators']]) {
  pageTest(`${view} draws the order of the layers and sums the operators of each part`, {}, async (page) => {
    await openSite(page, `?view=${view}&d=h100_sxm&model=gpt-oss-20b${place}`);
    const layers = page.locator('.layers');
    await layers.waitFor();
    assert.match(plain(await layers.innerText()), /24 in this order: 12 × \(window \+ experts, attention \+ experts\)/);
    const bars = await layers.locator('.layer-order path').evaluateAll((paths) => paths.map((path) => path.getAttribute('d').split('M').length - 1));
    assert.deepEqual(bars, [12, 12, 24], 'full attention, windows, experts');
    const table = page.locator('.operators').last();
    const parts = await table.locator('tr.part').evaluateAll((rows) => rows.map((row) => [row.cells[0].innerText, row.cells[1].innerText]));
    assert.deepEqual(parts.map(([name, count]) => [plain(name), count]), [
      ['attention, 64 heads of 64', '12'],
      ['attention to a window of 128 tokens, 64 heads of 64', '12'],
      ['32 experts, 4 per token', '24'],
      ['all else: embedding, norms, LM head, links', '–'],
    ]);
    await page.locator('#decode-attention-2').focus();
    assert.equal(await page.locator('tr.pointed').count(), 2, 'both rows have the point of their kind');
  });
}

pageTest('the weights of a catalog model are listed by role', {}, async (page) => {
  await openSite(page, '?view=plan&d=h100_sxm&model=gpt-oss-20b&tab=memory');
  const rows = page.locator('.weight-roles tbody tr');
  await rows.first().waitFor();
  const roles = await rows.evaluateAll((all) => all.map((row) => row.cells[0].innerText));
  assert.deepEqual([roles[0], roles.includes('attention'), roles.includes('LM head')], ['experts', true, true]);
});

pageTest('a curve has its values by keyboard and in a table', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await page.locator('#by-batch').focus();
  await page.keyboard.press('End');
  assert.equal(plain(await page.locator('#by-batch [role=status]').innerText()), 'Batch 1 024: does not fit');
  await page.keyboard.press('Home');
  assert.match(plain(await page.locator('#by-batch [role=status]').innerText()), /^Batch 1: .* token\/s/);
  const numbers = page.locator('summary', { hasText: 'The same in numbers' });
  assert.equal(await page.locator('table.sweep').count(), 0);
  await numbers.first().click();
  await numbers.last().click();
  await page.locator('table.sweep').nth(1).waitFor();
  const rows = await page.locator('table.sweep').first().locator('tbody tr').allInnerTexts();
  assert.ok(rows.length > 15, `${rows.length} rows`);
  assert.match(plain(rows[0]), /^1\s.*DRAM$/s);
  await type(page, 'batch', '5');
  assert.ok((await page.locator('table.sweep').first().innerText()).includes('5\t'), 'the value of the reader has a row');
});

pageTest('a number shows its explanation on focus, and keeps it in the inspector on a click', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  for (const [id, says] of [['expected-0', /First token, expected/], ['ideal-1', /sum over operators/], ['memory-kv', /longest sequence/]]) {
    await page.locator(`#${id}`).focus();
    await page.locator('#explanation').waitFor();
    assert.match(await page.locator('#explanation').innerText(), says);
    await page.locator(`#${id}`).click();
    await page.locator('#inspected').waitFor();
    assert.match(await page.locator('#inspected').innerText(), says);
    await page.keyboard.press('Escape');
  }
});

for (const width of [320, 390, 768, 1024, 1200, 1920]) {
  pageTest(`no part is wider than a window of ${width}`, { viewport: { width, height: 844 } }, async (page) => {
    await openSite(page, everything);
    const over = await page.locator('main *').evaluateAll((elements, width) => elements.filter((element) => !element.closest('.scroll, .unseen') && element.getBoundingClientRect().right > width - (element.closest('.answer table') ? 8 : 0) + 1).map((element) => element.outerHTML.slice(0, 80)), width);
    assert.deepEqual(over, []);
  });
}

pageTest('on a phone a summary line opens the inputs', { viewport: phone }, async (page) => {
  await open(page);
  assert.equal(await page.locator('#model').isVisible(), false);
  assert.match(plain(await page.locator('.summary').innerText()), /^Llama-3\.1 8B on Jetson Orin Nano.* · BF16 · batch 1 · 4096 tokens$/);
  await page.locator('.summary').click();
  await pick(page, 'model', 'gemma-2-9b');
  assert.match(plain(await page.locator('.summary').innerText()), /^Gemma-?\s?2/i);
  await page.locator('.summary').click();
  const order = [];
  for (const part of ['.summary', 'h1', '.memory', 'table.figures', '.advice .choice', '#chart', '.operators', '#by-batch', '.limits .fold']) {
    order.push((await page.locator(part).first().boundingBox()).y);
  }
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [wide, phone]) {
    const size = viewport === wide ? 'wide' : 'phone';
    pageTest(`axe finds no violation in the Model view, ${size}, ${colorScheme}, with parts closed and open`, { colorScheme, viewport }, async (page) => {
      await loadAxe(page);
      await open(page, '&model=nothing');
      await assertAccessible(page);
      if (viewport === phone) {
        await page.locator('.summary').click();
      }
      for (const fold of await page.locator('details').all()) {
        await fold.evaluate((element) => { element.open = true; });
      }
      await page.locator('#batch').fill('x');
      await assertAccessible(page);
      await page.locator('#batch').fill('4');
      await page.locator('#model').click();
      await assertAccessible(page);
      await page.keyboard.press('Escape');
      await page.locator('#expected-0').focus();
      await page.locator('#explanation').waitFor();
      await assertAccessible(page);
    });
  }
}

pageTest('a draft model changes the figures, and its field is hidden without drafts', {}, async (page) => {
  await openSite(page, '?view=model&d=h100_sxm');
  await page.getByText('Memory, devices, drafts').click();
  assert.equal(await page.locator('#dm').isVisible(), false);
  await page.locator('#draft').fill('4');
  const free = (await figures(page)).join();
  await pick(page, 'dm', 'llama-3.2-1b');
  assert.match(await query(page), /draft=4&dm=llama-3\.2-1b/);
  assert.notEqual((await figures(page)).join(), free);
});
