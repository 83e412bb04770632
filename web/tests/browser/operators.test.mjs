// Every operator has its fields, matches numbers computed by hand, and is in the address.
import assert from 'node:assert/strict';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { openSite, pageTest } from './harness.mjs';
import { number, plain, query, readTable, verdict } from './page.mjs';

const bandwidth = 102.4e9;
const peak = 16.7e12;
const close = (text, expected, what) => assert.ok(Math.abs(number(text) / expected - 1) <= 0.0051, `${what}: ${text}, by hand ${expected}`);
const ideal = (...parts) => parts.reduce((sum, [flop, bytes]) => sum + Math.max(flop / peak, bytes / bandwidth), 0);

/** FLOP and bytes of each kernel in FP16, on the default device with the initial numbers of each operator. */
const byHand = {
  gemm: [[2 * 2048 * 4096 * 4096, 2 * (2048 * 4096 + 4096 * 4096 + 2048 * 4096)]],
  attention: [[2 * 32 * 4097 * 256, 2 * (32 * 256 + 8 * 4097 * 256)]],
  ffn: [
    [2 * 28672 * 4096, 2 * (4096 + 28672 * 4096 + 28672)],
    [5 * 14336, 2 * 3 * 14336],
    [2 * 4096 * 14336, 2 * (14336 + 4096 * 14336 + 4096)],
  ],
  moe: [
    [2 * 8 * 4096, 2 * (4096 + 8 * 4096 + 8)],
    [2 * 2 * 28672 * 4096, 2 * (2 * 4096 + 2 * 28672 * 4096 + 2 * 28672)],
    [5 * 2 * 14336, 2 * 3 * 2 * 14336],
    [2 * 2 * 4096 * 14336, 2 * (2 * 14336 + 2 * 4096 * 14336 + 2 * 4096)],
  ],
  norm: [[4 * 4096, 2 * 2 * 4096]],
};

for (const [operator, parts] of Object.entries(byHand)) {
  pageTest(`${operator} matches the numbers computed by hand, and a reload keeps it`, {}, async (page) => {
    await openSite(page, '?view=kernel');
    await page.locator('#operator').selectOption(operator);
    const { cells } = (await readTable(page)).FP16;
    close(cells[0], parts.reduce((sum, [, bytes]) => sum + bytes, 0), 'bytes');
    close(cells[2], ideal(...parts), 'ideal');
    const [expected, bound] = [number(cells[3]), ideal(...parts)];
    assert.ok(expected > bound && expected < 2.5 * bound + parts.length * 30e-6, `expected ${cells[3]}, ideal ${bound}`);
    const [address, said] = [await query(page), await verdict(page)];
    await page.reload();
    await page.locator('main').waitFor();
    assert.deepEqual([await query(page), await verdict(page)], [address, said]);
    assert.equal(await page.locator('#operator').inputValue(), operator);
  });
}

pageTest('a KV append moves bytes and has no point on the chart', {}, async (page) => {
  await openSite(page, '?op=kv_append');
  assert.match(await verdict(page), /computes nothing/);
  close((await readTable(page)).FP16.cells[0], 2 * 2 * 8 * 128, 'bytes');
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(plain(await page.locator('.chart [role=status]').innerText()), '');
});

pageTest('a phase sets the lengths that define it', {}, async (page) => {
  await openSite(page, '?op=attention');
  await page.locator('#phase').selectOption('prefill');
  assert.deepEqual([await page.locator('#an').inputValue(), await page.locator('#ac').inputValue()], ['2048', '0']);
  assert.match(await verdict(page), /^Compute-bound/);
  await page.locator('#an').fill('64');
  assert.equal(await page.locator('#phase').inputValue(), '');
  // The page adds a typed value to the history one frame later.
  assert.match(await query(page), /an=64/);
  await page.goBack();
  assert.equal(await page.locator('#an').inputValue(), '2048');
  await page.goBack();
  assert.equal(await page.locator('#an').inputValue(), '1');
});

pageTest('unfused attention and an ungated FFN change the bytes', {}, async (page) => {
  await openSite(page, '?op=attention&an=2048&ac=0');
  const fused = (await readTable(page)).FP16.cells[0];
  await page.locator('#fused').uncheck();
  assert.ok(number((await readTable(page)).FP16.cells[0]) > 5 * number(fused), 'scores go through memory');
  assert.match(await query(page), /uf=1/);
  await page.goBack();
  assert.ok(await page.locator('#fused').isChecked());
  await openSite(page, '?op=ffn&pl=1');
  assert.equal(await page.locator('#gated').isChecked(), false);
  close((await readTable(page)).FP16.cells[0], 2 * (2 * 14336 * 4096 + 2 * 14336 + 2 * (4096 + 14336)), 'plain');
});

for (const [address, id, wrong, says] of [
  ['?op=attention', 'ag', '5', /KV heads must divide the 32 heads/],
  ['?op=moe', 'xk', '9', /cannot use more than the 8 experts/],
  ['?op=norm', 'hs', '0', /Hidden must be a whole number from 1 to/],
]) {
  pageTest(`${id} = ${wrong} is marked, with the allowed range`, {}, async (page) => {
    await openSite(page, address);
    const table = await readTable(page);
    await page.locator(`#${id}`).fill(wrong);
    assert.equal(await page.locator(`#${id}`).getAttribute('aria-invalid'), 'true');
    assert.match(plain(await page.locator(`#${id}-message`).innerText()), says);
    assert.deepEqual(await readTable(page), table);
  });
}

for (const [typed, value] of [['1e3', 1000], ['4,096', 4096], ['4 096', 4096], ['1.5e3', 1500]]) {
  pageTest(`${typed} is read as ${value}`, {}, async (page) => {
    await openSite(page, '?view=kernel');
    await page.locator('#m').fill(typed);
    assert.equal(await page.locator('#m').getAttribute('aria-invalid'), 'false');
    assert.equal(await query(page), `?m=${value}&v=1`);
  });
}

pageTest('nine digits of M fit their field at 1280 pixels', { viewport: { width: 1280, height: 900 } }, async (page) => {
  await openSite(page, '?view=kernel');
  await page.locator('#m').fill('123456789');
  const [needed, there] = await page.locator('#m').evaluate((input) => [input.scrollWidth, input.clientWidth]);
  assert.ok(needed <= there, `${needed} in ${there}`);
});

pageTest('scenarios set device, mode and shape', {}, async (page) => {
  await openSite(page, '?op=norm');
  await page.getByRole('button', { name: 'edge at 7 W' }).click();
  assert.match(await page.locator('#device').inputValue(), /Orin Nano 8GB Super/);
  assert.equal(await page.locator('#mode').inputValue(), '7W');
  assert.match(await verdict(page), /^Memory-bound/);
  await page.getByRole('button', { name: 'server prefill' }).click();
  assert.match(await page.locator('#device').inputValue(), /H100/);
  assert.match(await verdict(page), /^Compute-bound/);
  assert.equal(await page.getByRole('button', { name: 'server prefill' }).getAttribute('aria-pressed'), 'true');
  await page.goBack();
  assert.equal(await page.locator('#mode').inputValue(), '7W');
});

for (const viewport of [{ width: 1440, height: 900 }, { width: 320, height: 700 }]) {
  pageTest(`axe finds no violation in any operator in a window of ${viewport.width}, and nothing is wider`, { viewport }, async (page) => {
    await loadAxe(page);
    for (const operator of ['attention', 'ffn', 'moe', 'kv_append', 'norm']) {
      await openSite(page, `?op=${operator}`);
      if (viewport.width < 900) {
        await page.locator('.summary').click();
      }
      await assertAccessible(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width, operator);
    }
  });
}
