// Errors stand in view beside what caused them, on a wide screen and on a phone.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { query } from './page.mjs';

const sizes = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];

/** Asserts that an element with text is inside the viewport, above the bar of a phone, and that nothing covers it. */
async function assertInView(page, id) {
  const found = await page.evaluate((id) => new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => {
      const message = document.getElementById(id);
      const { left, top, right, bottom } = message.getBoundingClientRect();
      const middle = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const bar = [...document.querySelectorAll('nav')].find((nav) => getComputedStyle(nav).position === 'fixed');
      resolve({
        text: message.textContent.trim(),
        box: [left, top, right, bottom],
        inside: left >= 0 && top >= 0 && right <= innerWidth && bottom <= (bar?.getBoundingClientRect().top ?? innerHeight),
        seen: message.contains(middle),
      });
    }));
  }), id);
  assert.ok(found.text.length > 10, `${id} says nothing`);
  assert.ok(found.inside && found.seen, `${id}: ${JSON.stringify(found)}`);
}

/** Types a wrong value into every visible number field below a selector. */
async function assertFields(page, selector) {
  const fields = page.locator(`${selector} .number input[type="text"]:visible`);
  const ids = await fields.evaluateAll((fields) => fields.map((field) => field.id));
  for (const id of ids) {
    const field = page.locator(`#${id}`);
    const before = await field.inputValue();
    await field.fill('-1');
    await query(page);
    await assertInView(page, `${id}-message`);
    await field.fill(before);
  }
  return ids;
}

for (const viewport of sizes) {
  pageTest(`wrong values in the scenario are explained in view at ${viewport.width} px`, { viewport }, async (page) => {
    await openSite(page, '?view=plan&prompt=4096&draft=4');
    const tried = [];
    for (const part of ['model', 'device', 'users', 'in', 'out', 'goal']) {
      await page.locator(`#part-${part}`).click();
      await page.waitForFunction(() => document.querySelector('#part-fields')?.contains(document.activeElement));
      await page.locator('#part-fields details').evaluateAll((sections) => sections.forEach((section) => (section.open = true)));
      await query(page);
      tried.push(...await assertFields(page, '#part-fields'));
    }
    for (const id of ['tp', 'memory', 'batch', 'prompt', 'context', 'generate', 'accept', 'loss', 'ttft', 'layers']) {
      assert.ok(tried.includes(id), `${id} of ${tried}`);
    }
  });

  pageTest(`wrong values of every operator are explained in view at ${viewport.width} px`, { viewport }, async (page) => {
    for (const op of ['gemm', 'attention', 'ffn', 'moe', 'kv_append', 'norm']) {
      await openSite(page, `?view=kernel&op=${op}`);
      const summary = page.locator('.inputs > .summary');
      if (await summary.isVisible()) {
        await summary.click();
      }
      const tried = await assertFields(page, '.shape');
      assert.ok(tried.length > 1, op);
    }
  });

  pageTest(`a broken config.json is explained in view at ${viewport.width} px`, { viewport }, async (page) => {
    await openSite(page, '?view=plan&prompt=4096');
    await page.locator('#part-model').click();
    await page.locator('.import summary').click();
    await page.locator('#paste').fill('{"hidden_size": 4096,');
    await page.getByRole('button', { name: 'Use what is pasted' }).click();
    await page.waitForFunction(() => document.querySelector('#import-message').textContent !== '');
    await assertInView(page, 'import-message');
    await page.locator('#hub').fill('no id');
    await page.getByRole('button', { name: /^Fetch config/ }).click();
    await query(page);
    await assertInView(page, 'import-message');
  });

  pageTest(`a name that nothing has offers a paste, whose field is in view at ${viewport.width} px`, { viewport }, async (page) => {
    await openSite(page, '?view=plan&prompt=4096');
    await page.locator('#part-model').click();
    await page.locator('#model').pressSequentially('§§§§');
    await page.getByRole('option', { name: 'Paste its config.json' }).click();
    await page.waitForFunction(() => document.activeElement.id === 'paste');
    const box = await page.locator('#paste').boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, JSON.stringify(box));
  });
}

pageTest('a wrong range in Explore leaves points that are said to be of another input', {}, async (page) => {
  await openSite(page, '?view=explore&batch=1');
  await page.locator('.explore-progress .sentence', { hasText: 'on the front' }).waitFor({ timeout: 60_000 });
  await page.getByLabel('Users').first().fill('x');
  await page.locator('.explore-progress .sentence', { hasText: /^A field is wrong\. What is below is of another input and stays until it is right: / }).waitFor();
});
