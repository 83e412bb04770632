// Models beside a card's host, and images in a prompt: fields, the answer, the address, Back, a phone.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query, sideways, verdict } from './page.mjs';

const phone = { width: 390, height: 844 };
const oss = '?view=plan&model=gpt-oss-120b&d=rtx_4090&prompt=4096&generate=512';
const said = async (page) => plain(await page.locator('.said').innerText());
const line = async (page) => plain(await page.locator('.scenario .line').innerText());
/** Enters a text into a field that counts when it is left. */
const enter = async (page, id, text) => {
  await page.locator(`#${id}`).fill(text);
  await page.locator(`#${id}`).press('Tab');
  await query(page);
};
const unfold = (page, title) => page.locator('summary', { hasText: title }).click();

pageTest('a host is written behind the card, and the answer says what lies where', {}, async (page) => {
  await openSite(page, oss);
  assert.equal(await verdict(page), 'Nothing meets the bounds.');
  await page.locator('#part-device').click();
  await pick(page, 'device', 'rtx 4090 with 96 GB of DDR5');
  await page.waitForURL(/host=ddr5&hostgb=96/);
  await page.locator('.placed').waitFor();
  assert.match(await verdict(page), /^Take .*: it fits, .* token\/s\.$/);
  assert.match(await said(page), /The experts of \d+ of 36 layers lie on the host, the rest on the card\./);
  assert.match(await said(page), /On the host: 4\d\.\d GB of weights; 4\d\.\d GB of 95\.3 GB usable in memory/);
  assert.match(plain(await page.locator('#inspector').innerText()), /-ngl 37 -ncmoe \d+/, 'the command places it, too');
  assert.doesNotMatch(plain(await page.locator('#inspector').innerText()), /vLLM/);
  assert.match(await said(page), /-ngl 37 -ncmoe \d+ -c 4608 -np 1/);
  assert.match(await line(page), /1 × GeForce RTX 4090 with 96 GB of DDR5 with the usual engine/);
  assert.equal(await page.locator('.said .way .copy').count(), 1);
});

pageTest('the fields of a host are in the address, and Back undoes them', {}, async (page) => {
  await openSite(page, oss);
  await page.locator('#part-device').click();
  await page.locator('#device').waitFor();
  assert.equal(await page.locator('#host').isVisible(), false, 'it is folded while there is none');
  await unfold(page, 'Host memory');
  await enter(page, 'host_memory_gb', '96');
  assert.match(await query(page), /host=ddr5&hostgb=96/);
  assert.equal(await page.locator('#host').inputValue(), 'ddr5', 'memory brings the usual host');
  await enter(page, 'host', '128 GB of ddr5-6000');
  assert.match(await query(page), /host=ddr5-6000&hostgb=128/);
  await enter(page, 'host', 'ddr5');
  await enter(page, 'host_memory_gb', '96');
  await page.locator('#host_link').selectOption('pcie_3_x16');
  await enter(page, 'ssd_gb_s', '7');
  await page.locator('#desktop').check();
  assert.match(await query(page), /host=ddr5&hostgb=96&hostlink=pcie_3_x16&ssd=7&reserve=desktop/);
  await page.locator('.placed').waitFor();
  assert.match(await said(page), /of 93\.3 GB usable in memory/, 'the desktop has 2 GB');
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes('reserve'));
  assert.equal(await page.locator('#desktop').isChecked(), false);
  await page.waitForLoadState('networkidle');
  await page.reload();
  await page.locator('.placed').waitFor();
  await page.locator('#part-device').click();
  await page.locator('#ssd_gb_s').waitFor();
  assert.equal(await page.locator('#ssd_gb_s').inputValue(), '7');
  await enter(page, 'host_memory_gb', 'lots');
  assert.match(plain(await page.locator('#host-message').innerText()), /^Memory of the host must be a number/);
  assert.equal(await page.locator('.answer.stale').count(), 1);
  await enter(page, 'host', '');
  assert.doesNotMatch(await query(page), /host/);
  assert.equal(await verdict(page), 'Nothing meets the bounds.');
});

pageTest('where nothing fits, a click adds the memory that is enough', {}, async (page) => {
  await openSite(page, oss);
  await page.locator('.impasse .chip', { hasText: 'GB of host memory' }).click();
  await page.waitForURL(/host=ddr5&hostgb=\d+/);
  assert.match(await verdict(page), /^Take .*: it fits/);
  await openSite(page, oss.replace('plan', 'model'));
  await page.locator('.room .chip', { hasText: 'GB of host memory' }).click();
  await page.waitForURL(/host=ddr5&hostgb=\d+/);
  assert.match(await verdict(page), /^Fits, and the memory of the host limits decode/);
  assert.equal(await page.locator('section[aria-label="Memory of the host"]').count(), 1);
});

pageTest('a board has no host, and other programs take of its memory', {}, async (page) => {
  await openSite(page, '?view=plan&model=gemma-4-26b-a4b&d=gb10&host=ddr5&hostgb=64');
  await page.waitForFunction(() => /Host does not apply to a device that shares its memory/.test(document.querySelector('.said').textContent));
  await openSite(page, '?view=plan&model=gemma-4-26b-a4b&d=rtx_4090&host=ddr5&hostgb=64&reserve=4');
  await page.locator('#part-device').click();
  await pick(page, 'device', 'dgx spark');
  assert.match(await query(page), /reserve=4/);
  assert.doesNotMatch(await query(page), /host/);
  assert.equal(await page.locator('#host').count(), 0);
  assert.equal(await page.locator('#reserve_gb').inputValue(), '4');
});

pageTest('images are for models that see, with their tokens and their time', {}, async (page) => {
  await openSite(page, '?view=plan&model=llama-3.1-8b&d=gb10');
  await page.locator('#part-in').click();
  await page.locator('#prompt').waitFor();
  assert.equal(await page.locator('#image').count(), 0);
  await openSite(page, '?view=plan&model=gemma-4-26b-a4b&d=gb10&prompt=512');
  await page.locator('#part-in').click();
  await page.locator('#image').waitFor();
  await enter(page, 'image', '1024x768');
  await page.locator('.placed').waitFor();
  assert.match(await said(page), /1 of 1024 x 768 pixels, 268 tokens each; 512 tokens of text/);
  assert.match(await said(page), /Encoder: .* ms .*, a part of the time to the first token/);
  assert.match(await line(page), /512 tokens in and images of 1024x768/);
  await enter(page, 'image_tokens', '100');
  assert.match(await query(page), /image=1024x768&imagetok=100/);
  assert.match(await said(page), /100 tokens each/);
  await enter(page, 'image', 'large');
  assert.match(plain(await page.locator('#image-message').innerText()), /1024x768/);
  await enter(page, 'image', '');
  assert.doesNotMatch(await query(page), /image/);
  await page.locator('#part-model').click();
  await page.locator('#language_model_only').check();
  assert.match(await query(page), /textonly=1/);
});

pageTest('on a phone host and images fit, and axe finds nothing', { viewport: phone }, async (page) => {
  await loadAxe(page);
  await openSite(page, `${oss}&host=ddr5&hostgb=96&ssd=7`);
  await page.locator('.placed').waitFor();
  await page.locator('#part-device').click();
  await page.locator('#ssd_gb_s').waitFor();
  assert.equal(await sideways(page), 0);
  await assertAccessible(page);
  await openSite(page, '?view=model&model=gemma-4-26b-a4b&d=gb10&prompt=512&image=2x1024x768');
  await page.locator('.placed').waitFor();
  assert.equal(await sideways(page), 0);
  await assertAccessible(page);
});
