// Recommendation: the four scenarios of the prototypes, the page's main question, goals, and the inverse questions.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query } from './page.mjs';

const use = (page) => page.locator('.advice .choice');

/** Waits until the recommendation has this name: it follows the inputs by a frame. */
async function recommends(page, name) {
  await page.waitForFunction((name) => document.querySelector('.advice .choice')?.textContent === name, name);
}

async function unfolded(page, name) {
  const details = page.locator('.advice details', { has: page.locator('summary', { hasText: name }) });
  await details.locator('summary').first().click();
  return plain(await details.innerText());
}

for (const [preset, first, flip] of [
  ['edge decode', 'GGUF Q4_K_M', /M ≥ \d+: INT4 g128, GPTQ is first/],
  ['edge at 7 W', 'GGUF Q4_K_M', /M ≥ \d+: INT8 weights and activations is first/],
  ['desktop decode', 'GGUF Q4_K_M', /M ≥ \d+: NVFP4 weights and activations is first/],
  ['desktop prefill', 'NVFP4 weights and activations', /first/],
  ['server prefill', 'FP8 weights and activations', /first/],
]) {
  pageTest(`the scenario "${preset}" recommends ${first}`, {}, async (page) => {
    await openSite(page, '?d=t4&m=3');
    await page.getByRole('button', { name: preset, exact: true }).click();
    await recommends(page, first);
    assert.match(plain(await page.locator('.advice').innerText()), flip);
  });
}

pageTest('Llama-3.1-8B on an Orin Nano: the recommendation, why INT8 is dropped, and the change at batch 16', {}, async (page) => {
  await openSite(page, '?view=model&prompt=512&context=4096');
  await recommends(page, 'GGUF Q4_K_M');
  assert.match(plain(await page.locator('.advice').innerText()), /Memory\s+6\.12 GB/);
  const dropped = await unfolded(page, 'dropped');
  assert.match(dropped, /INT8 weights: needs 10\.1 GB, 2\.12 GB short of 7\.95 GB usable/);
  assert.match(dropped, /FP8 weights and activations: this device has no units for FP8 arithmetic/);
  assert.match(dropped, /GGUF Q2_K: \+39 to 56 % perplexity/);
  await page.locator('.asked summary').first().click();
  await page.locator('.asked p').first().waitFor();
  assert.match(plain(await page.locator('.asked').first().innerText()), /largest batch is 4 at this context/);
  await page.locator('#batch').fill('16');
  await recommends(page, 'Nothing meets the bounds');
  await page.locator('#batch').fill('many');
  assert.equal(await use(page).innerText(), 'Nothing meets the bounds', 'the last answer stays');
  assert.equal(await page.locator('#batch').inputValue(), 'many');
});

pageTest('a goal changes the recommendation, is in the address, and shows the allowed range when invalid', {}, async (page) => {
  await openSite(page, '?loss=0.5');
  await recommends(page, 'GGUF Q6_K');
  await page.goto('about:blank');
  await openSite(page, '?view=model&prompt=512&d=h100_sxm&obj=memory&loss=100');
  await recommends(page, 'GGUF Q2_K');
  await page.locator('.goal summary').click();
  await page.locator('#loss').fill('1');
  await recommends(page, 'GGUF Q5_K_M');
  assert.match(await query(page), /loss=1/);
  await page.locator('#tpot').fill('soon');
  assert.match(await page.locator('#tpot-message').innerText(), /above 0/);
  assert.equal(await use(page).innerText(), 'GGUF Q5_K_M');
  await page.locator('#tpot').fill('1');
  await recommends(page, 'Nothing meets the bounds');
});

pageTest('every recommended figure shows its origin', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#advice-3').focus();
  assert.match(await page.locator('#explanation').innerText(), /llama\.cpp/);
  await pick(page, 'device', 'h100_sxm');
  await page.waitForFunction(() => document.querySelector('.advice')?.textContent.includes('FP8'));
  assert.match(await unfolded(page, 'ranked'), /FP8 weights and activations/);
});

pageTest('the recommendation is applied to the inputs, and the back button undoes it', {}, async (page) => {
  await openSite(page, '?view=model&generate=1');
  await recommends(page, 'GGUF Q4_K_M');
  await page.locator('#take').click();
  assert.match(await page.locator('h1').innerText(), /^Fits/);
  assert.match(await query(page), /weights=gguf_q4_k(&|$)/);
  assert.equal(await page.locator('#wbits').inputValue(), '', 'the format brings the bits of its file');
  await page.goBack();
  assert.match(await page.locator('h1').innerText(), /^Does not fit/);
  await page.goto('about:blank');
  await openSite(page, '?d=h100_sxm&m=4096');
  await recommends(page, 'FP8 weights and activations');
  await page.locator('#take').click();
  assert.match(await query(page), /a=fp8_e4m3/);
  assert.match(await page.locator('tr.chosen .format').innerText(), /FP8/);
});
