// The Plan view: the scenario line, cards, schemes, tabs, keyboard, address, widths and colors.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query, type, verdict as shown } from './page.mjs';

const phone = { width: 390, height: 844 };
const open = (page, more = '') => openSite(page, `?view=plan&prompt=4096${more}`);
const cards = (page) => page.locator('.card').evaluateAll((cards) => cards.map((card) => card.innerText.replace(/\n+/g, '\n')));
/** The verdict, which follows the inputs after the next frame. */
const verdict = async (page) => {
  await query(page);
  return shown(page);
};
/** Waits until the inspector, which is drawn after the cards, begins with a text. */
const inspected = async (page, text) => {
  for (let tries = 0; tries < 100; tries += 1) {
    if (text.test(plain(await page.locator('#inspector').innerText()))) return;
    await page.waitForTimeout(100);
  }
  assert.match(plain(await page.locator('#inspector').innerText()), text);
};
const line = async (page) => plain(await page.locator('.scenario .line').innerText());

pageTest('the default scenario has a scheme that fits, with speed and loss', {}, async (page) => {
  await open(page);
  assert.match(await verdict(page), /^Take .*: it fits, .* token\/s\.$/);
  const [fits, speed, quality] = (await cards(page)).map(plain);
  assert.match(fits, /^Fits\s.* GB of .* GB\s.* GB left\sroom for \d+ users, or .* tokens$/);
  assert.match(speed, /^Speed\s.* token\/s .*–.*\sfirst token .*\swhole answer .*\s.* at the roof · .* per token$/);
  assert.match(quality, /^Quality\s\+.*% perplexity\s16 bits would be .* GB short\spublished for 8B models, scaled to this size$/);
  assert.match(await line(page), /^Llama-3\.1 8B on 1 × Jetson Orin Nano 8GB Super at .* with the usual engine in the best scheme · 1 user · 4 096 tokens in, 128 out/);
});

pageTest('each part of the scenario opens its fields, by mouse and by keyboard', {}, async (page) => {
  await open(page);
  await page.locator('#part-device').click();
  await pick(page, 'device', 'h100 sxm');
  assert.match(await query(page), /d=h100_sxm/);
  assert.match(await line(page), /on 1 × H100 SXM5 80GB with/);
  await type(page, 'tp', '2');
  assert.match(await line(page), /on 2 × H100/);
  await page.locator('#tp').press('Escape');
  assert.equal(await page.locator('#tp').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'part-device');
  await page.locator('#part-users').press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'batch');
  await page.keyboard.type('16');
  assert.equal(await page.locator('#batch').inputValue(), '16', 'the old value is replaced');
  await type(page, 'batch', '16');
  assert.match(await line(page), /16 users/);
  assert.match(await verdict(page), /token\/s in all\.$/);
  await type(page, 'batch', '0');
  assert.match(plain(await page.locator('#batch-message').innerText()), /from 1 to/);
  assert.equal(await page.locator('.answer.stale').count(), 1);
});

const stale = (page) => page.locator('.answer.stale');
/** Color of the number in a card. */
const ink = (page) => page.locator('.card .explained').first().evaluate((number) => getComputedStyle(number).color);

pageTest('an answer of another input is gray, says so, and clears once the input is right', {}, async (page) => {
  await loadAxe(page);
  await open(page);
  const clear = await ink(page);
  for (const [part, id, wrong, right, says] of [['users', 'batch', 'abc', '2', /Batch must be/], ['in', 'prompt', '-1', '512', /Prompt must be/], ['goal', 'loss', 'much', '4', /Quality loss must be/]]) {
    await page.locator(`#part-${part}`).click();
    await page.locator(`#${id}`).fill(wrong);
    await stale(page).waitFor();
    await page.locator('#stale p').waitFor();
    assert.match(plain(await page.locator('#stale').innerText()), says, part);
    assert.match(plain(await page.locator('#stale').innerText()), /of another input/, part);
    assert.notEqual(await ink(page), clear, part);
    assert.equal(await page.locator('.inspector.stale').count(), 1);
    assert.equal(await page.getByRole('region', { name: 'Answer to another input' }).getByRole('status').filter({ hasText: says }).count(), 1);
    await assertAccessible(page);
    await page.locator(`#${id}`).fill(right);
    await page.waitForFunction(() => document.querySelector('.stale') === null);
    assert.equal(await ink(page), clear, part);
    assert.equal(await page.locator('#stale').innerText(), '');
  }
});

pageTest('a number that grows too large says so, and the answer names the value that it is of', {}, async (page) => {
  await open(page);
  await page.locator('#part-in').click();
  await page.locator('#prompt').fill('');
  // The answer to 1e1 is drawn before the last digit comes; on a loaded machine it takes longer than a pause between two keys.
  await page.locator('#prompt').pressSequentially('1e');
  await page.locator('#stale p').waitFor();
  await page.locator('#prompt').press('1');
  await page.waitForFunction(() => document.querySelector('.stale') === null);
  await page.locator('#prompt').press('2');
  await page.waitForFunction(() => document.querySelector('#stale').textContent.includes('(Prompt 1e1 tokens)'));
  assert.match(plain(await page.locator('#prompt-message').innerText()), /^Prompt must be a whole number from 1 to/);
  assert.match(plain(await page.locator('#stale').innerText()), /What is below is of another input \(Prompt 1e1 tokens\) and stays/);
  await openSite(page, '?view=kernel&op=gemm');
  await page.locator('#m').fill('1e1');
  await page.waitForFunction(() => document.querySelector('.why-stale') === null);
  await page.locator('#m').fill('1e12');
  await page.locator('.why-stale').waitFor();
  assert.match(plain(await page.locator('.why-stale').innerText()), /^M must be a whole number.*What is below is still of M 1e1\.$/);
});

pageTest('a link with an invalid number says so, and shows no answer of another scenario', {}, async (page) => {
  await openSite(page, '?view=plan&batch=abc');
  await page.locator('#stale p').waitFor();
  assert.match(plain(await page.locator('#stale').innerText()), /^Batch must be a whole number.*There is no answer before this is right\.$/);
  assert.equal(await page.getByRole('table', { name: 'All schemes' }).isVisible(), false, 'a table without rows');
  assert.deepEqual(await cards(page), []);
  assert.equal(await page.locator('.roofline').count(), 0);
});

const strange = JSON.stringify({
  model_type: 'llama', architectures: ['LlamaForCausalLM'], torch_dtype: 'bfloat16', vocab_size: 128256, hidden_size: 4096, intermediate_size: 14336,
  num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8, max_position_embeddings: 131072, attn_latent_width: 512,
});

/** Pastes a config.json in the part of the model. */
async function paste(page, text) {
  await page.locator('#part-model').click();
  await page.locator('summary', { hasText: 'A model of your own' }).click();
  await page.locator('#paste').fill(text);
  await page.getByRole('button', { name: 'Use what is pasted' }).click();
}

pageTest('after a refused paste the answer is said to be of the model before, until one is chosen', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await paste(page, '{"model_type": "llama"');
  await stale(page).waitFor();
  await page.locator('#stale p').waitFor();
  assert.equal(plain(await page.locator('#stale').innerText()), 'pasted config.json was not taken. What is below is still of Llama-3.1 8B. Keep Llama-3.1 8B');
  await page.getByRole('button', { name: 'Keep Llama-3.1 8B' }).click();
  await page.waitForFunction(() => document.querySelector('.stale') === null);
  assert.equal(plain(await page.locator('#import-message').innerText()), '');
  await page.locator('#paste').fill('hello');
  await page.getByRole('button', { name: 'Use what is pasted' }).click();
  await stale(page).waitFor();
  await pick(page, 'model', 'gemma-2-9b');
  await page.waitForFunction(() => document.querySelector('.stale') === null);
});

pageTest('unread keys of a config.json can be taken at their upper bound, which its link keeps', {}, async (page) => {
  await loadAxe(page);
  await open(page, '&d=h100_sxm');
  await paste(page, strange);
  await stale(page).waitFor();
  const message = plain(await page.locator('#import-message').innerText());
  assert.match(message, /attn_latent_width \(perhaps attention through a latent vector\)/);
  assert.doesNotMatch(message, /--|model_upper_bound/);
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Take the upper bound' }).click();
  await page.waitForURL(/#s=/);
  await page.waitForFunction(() => document.querySelector('.stale') === null);
  assert.match(await line(page), /^pasted config\.json, upper bound on 1 × H100/);
  const fits = plain((await cards(page))[0]);
  await page.reload();
  await page.locator('main.plan').waitFor();
  assert.match(await line(page), /^pasted config\.json, upper bound on/);
  assert.equal(plain((await cards(page))[0]), fits);
});

pageTest('a scheme that is picked takes the cards, and Back returns', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  const first = await verdict(page);
  await page.locator('table.schemes button', { hasText: 'GGUF Q6_K' }).click();
  assert.match(await verdict(page), /^With GGUF Q6_K: it fits/);
  assert.match(await query(page), /scheme=gguf_q6_k/);
  assert.match(plain(await page.locator('.back').innerText()), /^Recommended: /);
  await page.getByRole('button', { name: 'Show it' }).click();
  assert.equal(await verdict(page), first);
  await page.goBack();
  assert.match(await verdict(page), /^With GGUF Q6_K/);
});

pageTest('a refused scheme explains itself beside the recommended verdict, which stays', {}, async (page) => {
  await loadAxe(page);
  await open(page, '&d=h100_sxm');
  const [first, beside] = [await verdict(page), await cards(page)];
  await page.locator('.card', { hasText: 'Quality' }).locator('button').click();
  await page.locator('table.schemes button', { hasText: 'INT2 g64 weights' }).click();
  assert.equal(await verdict(page), first);
  assert.deepEqual(await cards(page), beside);
  assert.match(plain(await page.locator('.verdict p').innerText()), /^INT2 g64 weights is left out: .*5 % allowed\./);
  await inspected(page, /^INT2 g64 weights is refused.*5 % allowed/s);
  assert.match(await query(page), /scheme=int2_g64_rtn/);
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Take it' }).click();
  assert.doesNotMatch(await query(page), /scheme=/);
  await inspected(page, /^Tokens per second/);
});

pageTest('where nothing meets the bounds, each way out is a button that works', {}, async (page) => {
  await loadAxe(page);
  await open(page, '&d=h100_sxm&model=llama-3.1-70b&rate=300');
  assert.equal(await verdict(page), 'Nothing meets the bounds.');
  assert.match(plain(await page.locator('.verdict p').innerText()), /^The nearest is .*300 token\/s required/);
  await page.locator('.impasse button').first().waitFor();
  assert.match(plain(await page.locator('.impasse p').first().innerText()), /^Of \d+ schemes, .*cannot reach 300 token\/s/);
  await assertAccessible(page);
  const ways = await page.locator('.impasse button').allInnerTexts();
  assert.ok(ways.some((way) => /^At least \d+ token\/s: /.test(plain(way))), ways.join());
  for (const way of ways) {
    await page.locator('.impasse button', { hasText: way }).click();
    assert.match(await verdict(page), /^Take /, way);
    assert.equal(await page.locator('.impasse button').count(), 0);
    await page.goBack();
    await page.locator('.impasse button').first().waitFor();
  }
});

pageTest('someone who asks whether a speed is possible finds the answer from the landing', {}, async (page) => {
  await openSite(page, '');
  const tab = page.getByRole('tab', { name: 'Is this possible?' });
  const { y, height } = await tab.boundingBox();
  assert.ok(y + height < 900, 'in view without scrolling');
  await tab.click();
  await page.locator('#ts').fill('60');
  await page.waitForFunction(() => /^Not possible: /.test(document.querySelector('.judged')?.textContent ?? ''));
  await page.locator('#ts').fill('10');
  await page.waitForFunction(() => /^Possible: /.test(document.querySelector('.judged')?.textContent ?? ''));
  assert.match(plain(await page.locator('#plan-tab').innerText()), /This is for GGUF Q4_K_M, the scheme of the cards above/);
});

pageTest('a number in front of a device sets the number of devices', {}, async (page) => {
  await open(page);
  for (const [typed, says, tp] of [['2 x rtx 3090', /on 2 × GeForce RTX 3090/, '2'], ['4 H100', /on 4 × H100 SXM5/, '4'], ['3x RTX 4090', /on 3 × /, '3']]) {
    if (!(await page.locator('#device').isVisible())) {
      await page.locator('#part-device').click();
    }
    await pick(page, 'device', typed);
    assert.match(await line(page), says);
    assert.equal(await page.getByLabel('Number of devices').first().inputValue(), tp);
  }
});

pageTest('what does not fit promises no speed', {}, async (page) => {
  await open(page, '&model=llama-3.1-405b');
  assert.equal(await verdict(page), 'Nothing meets the bounds.');
  assert.match(plain(await page.locator('.verdict p').innerText()), /^The nearest is .*: needs .* short of .* usable/);
  assert.deepEqual(await cards(page), []);
  assert.equal(await page.locator('.roofline').count(), 0);
  for (const name of ['Operators', 'Users and context']) {
    await page.getByRole('tab', { name }).click();
    await page.locator('.no-speed').waitFor();
    assert.doesNotMatch(plain(await page.locator('#plan-tab').innerText()), /\d (token\/s|s|ms|µs)\b/, name);
  }
  await page.getByRole('tab', { name: 'Schemes' }).click();
  assert.doesNotMatch(plain(await page.locator('table.schemes').innerText()), /token\/s/);
});

pageTest('the chart of schemes and the tabs work by keyboard', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await page.locator('#schemes').focus();
  await page.keyboard.press('ArrowRight');
  assert.match(plain(await page.locator('.scheme-chart [role="status"]').innerText()), /:/);
  await page.keyboard.press('Enter');
  assert.match(await query(page), /scheme=/);
  await page.locator('#tab-0').focus();
  for (const name of ['Is this possible?', 'Operators', 'Memory', 'Users and context']) {
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), name);
    await page.waitForFunction(() => document.querySelector('#plan-tab').innerText.length > 40); // fetched with the first tab
  }
  assert.match(await query(page), /tab=scale/);
  await page.goBack();
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), 'Memory');
  await page.reload();
  await page.locator('main.plan').waitFor();
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), 'Memory');
});

pageTest('the scheme part has the scheme and the formats of KV cache and embedding', {}, async (page) => {
  await open(page);
  await page.locator('#part-scheme').click();
  await page.locator('#scheme').waitFor();
  await pick(page, 'kv', 'q8_0');
  assert.match(await line(page), /in the best scheme, KV cache /);
  await pick(page, 'scheme', 'q6_k');
  assert.match(await line(page), /in GGUF Q6_K, KV cache /);
  assert.match(await query(page), /scheme=gguf_q6_k.*kv=gguf_q8_0/);
});

pageTest('a slash opens the device of the scenario', {}, async (page) => {
  await open(page);
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement.id === 'device');
});

pageTest('on a phone the places are at the bottom, and a row has name, time, memory and loss', { viewport: phone }, async (page) => {
  await open(page);
  for (const name of ['Plan', 'Compare', 'Explore', 'Kernel', 'Model', 'Device', 'Trust', 'Learn']) {
    const box = await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).boundingBox();
    assert.ok(box.y > 780 && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, `${name} ${JSON.stringify(box)}`);
  }
  const table = page.locator('.plan .scroll', { has: page.locator('table.schemes') });
  assert.equal(await table.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
  const row = plain(await page.locator('table.schemes tbody tr').first().innerText());
  assert.match(row, /s\s.* GB\s.* %/);
});

pageTest('a number in a card explains itself in the inspector', {}, async (page) => {
  await open(page);
  await page.locator('.card', { hasText: 'Quality' }).locator('button').click();
  await inspected(page, /^Loss of quality/);
  await page.locator('.card', { hasText: 'Fits' }).locator('button').click();
  await inspected(page, /^Memory .*weights \+ KV cache \+ activations \+ reserve/s);
});

pageTest('the badge of an expected time opens the measurements behind it, and Back returns', {}, async (page) => {
  await open(page, '&d=h100_sxm');
  await page.locator('#inspector .on-screen a.badge', { hasText: 'fitted' }).click();
  await page.locator('main.trust').waitFor();
  assert.match(await query(page), /fd=h100_sxm&fe=vllm&ff=~/);
  assert.match(await page.locator('#fd').inputValue(), /h100_sxm/);
  assert.doesNotMatch(await verdict(page), /No published row/);
  await page.goBack();
  await page.locator('main.plan').waitFor();
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [{ width: 1440, height: 900 }, phone, { width: 320, height: 700 }]) {
    pageTest(`the plan has no axe finding and no sideways scrolling at ${viewport.width} px, ${colorScheme}`, { viewport, colorScheme }, async (page) => {
      await loadAxe(page);
      await open(page);
      await assertAccessible(page);
      await page.locator('#part-device').click();
      await assertAccessible(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0);
    });
  }
}

for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
  pageTest(`one click on the device of the scenario opens its list, at ${viewport.width} px`, { viewport }, async (page) => {
    await loadAxe(page);
    await open(page, '&d=t4');
    await page.locator('#part-device').click();
    await page.locator('#device-list').getByRole('option').first().waitFor();
    const state = await page.evaluate(() => [document.activeElement.id, document.activeElement.getAttribute('aria-expanded')]);
    assert.deepEqual(state, ['device', 'true']);
    await assertAccessible(page);
    // A choice is one more click; Escape closes the list, then the part.
    await page.locator('#device-list').getByRole('option', { name: 'GeForce RTX 4090' }).first().click();
    assert.match(await query(page), /d=rtx_4090/);
    await page.locator('#part-device').click();
    await page.locator('#part-device').click();
    await page.locator('#device-list').getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#device').getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#device').count(), 0);
  });
}
