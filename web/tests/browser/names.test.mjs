// Names that are typed into a field: what Enter takes is said, and what it does not take is refused by a sentence.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { pick, plain, query } from './page.mjs';

const said = async (page, id) => plain(await page.locator(`#${id}-said`).innerText());
const line = async (page) => plain(await page.locator('.scenario .line').innerText());
/** Opens a part of Plan's scenario and waits for its fields. */
async function unfold(page, part) {
  await page.locator(`#part-${part}`).click();
  await page.locator(`#${part}`).waitFor();
}

for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
  pageTest(`Enter says how it read the name of a device, and refuses several cards, at ${viewport.width} px`, { viewport }, async (page) => {
    await loadAxe(page);
    await openSite(page, '?view=plan&d=t4');
    await unfold(page, 'device');
    for (const typed of ['rtx 4090 + rtx 3090', 'rtx_4090,rtx_3090']) {
      await pick(page, 'device', typed);
      assert.match(await said(page, 'device'), /^The page takes one kind of card; unlike ones share a model on the command line: .*Nothing was changed\.$/, typed);
      assert.match(await query(page), /d=t4/);
    }
    await assertAccessible(page);
    await pick(page, 'device', 'dgx spark');
    assert.match(await said(page, 'device'), /^“dgx spark” read as .*GB10/);
    assert.match(await query(page), /d=gb10/);
    await pick(page, 'device', 'rtx 4090');
    assert.equal(await said(page, 'device'), '');
    await pick(page, 'device', 'no such thing');
    assert.match(await said(page, 'device'), /^No device matches “no such thing”\. Nothing was changed\.$/);
    assert.match(await query(page), /d=rtx_4090/);
  });
}

pageTest('a link with several cards says that the page takes one kind', {}, async (page) => {
  await openSite(page, '?view=plan&d=rtx_4090,rtx_3090');
  await page.locator('.notes li').waitFor();
  assert.match(plain(await page.locator('.notes').innerText()), /names several cards\. The page takes one kind of card; .*--hardware "rtx_4090 \+ rtx_3090"/);
});

pageTest('a name that no model has is refused in one line, with the names near it', {}, async (page) => {
  await openSite(page, '?view=plan&prompt=512');
  await unfold(page, 'model');
  const before = await line(page);
  await pick(page, 'model', '§§§§');
  assert.equal(await said(page, 'model'), 'No model matches “§§§§”. Nothing was changed.');
  await pick(page, 'model', 'lama 3.1 8x');
  assert.match(await said(page, 'model'), /^No model matches “lama 3\.1 8x”; near it: Llama-3\.1 8B/);
  assert.equal(await line(page), before);
});

pageTest('the format in the name of a model becomes the scheme, or is said not to', {}, async (page) => {
  await openSite(page, '?view=plan&d=rtx_4090&prompt=512');
  await unfold(page, 'model');
  await pick(page, 'model', 'Qwen3.5-35B-A3B Q4_K_M');
  assert.equal(await said(page, 'model'), '“Qwen3.5-35B-A3B Q4_K_M” read as Qwen3.5 35B-A3B in GGUF Q4_K.');
  assert.match(await query(page), /model=qwen3\.5-35b-a3b.*scheme=gguf_q4_k/);
  assert.match(await line(page), /in GGUF Q4_K_M/);
  await pick(page, 'model', 'gpt-oss:20b-q4');
  assert.match(await query(page), /scheme=as_published/);
  await pick(page, 'model', 'llama3.1:8b-instruct-q5_1');
  assert.match(plain(await page.locator('.notes').innerText()), /llama3\.1:8b-instruct-q5_1 names GGUF Q5_1, which is none of Plan's schemes, so the scheme was not changed/);
  await openSite(page, '?view=model&d=rtx_4090&prompt=512');
  await pick(page, 'model', 'llama3.1:8b-instruct-q8_0');
  assert.match(await query(page), /weights=gguf_q8_0/);
});
