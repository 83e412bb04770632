// The page fits one screen, and is a column on a phone; both are accessible in both color schemes, also with open parts. Every
// place fits a narrow window, large text and forced colors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, loadAxe } from './accessibility.mjs';
import { startChromium } from './chromium.mjs';
import { openSite, pageTest } from './harness.mjs';
import { canvasColors, pick, places, sideways, verdict } from './page.mjs';

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

pageTest('at 1440 × 900 the page needs no scrolling', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const hidden = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.inputs, .answer, .limits')]
      .filter((element) => element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1)
      .map((element) => `${element.className || 'page'}: ${element.scrollHeight} of ${element.clientHeight}`));
  assert.deepEqual(hidden, []);
});

pageTest('no place is wider than a window of 320 to 2560', {}, async (page) => {
  for (const [name, [link]] of Object.entries(places)) {
    await openSite(page, link);
    for (const width of [320, 390, 768, 1024, 1200, 2560]) {
      await page.setViewportSize({ width, height: 844 });
      assert.equal(await sideways(page), 0, `${name} at ${width}`);
    }
  }
});

/** Texts that do not fit into their buttons, headings and paragraphs. */
const cut = (page) => page.evaluate(() =>
  [...document.querySelectorAll('button, h1, h2, p, label, summary, .badge')]
    .filter((element) => element.checkVisibility() && getComputedStyle(element).display !== 'inline' && !element.matches('.unseen'))
    .filter((element) => element.scrollHeight > element.clientHeight + 2 || element.scrollWidth > element.clientWidth + 2)
    .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`));

test('text of 32 px is read in every place without scrolling sideways, and charts have it too', { timeout: 60_000 }, async () => {
  const browser = await startChromium(['--blink-settings=defaultFontSize=32']);
  try {
    const page = await browser.newPage();
    for (const viewport of [phone, wide]) {
      await page.setViewportSize(viewport);
      const links = Object.entries(places).map(([name, [link]]) => [name, link]);
      // A text stands below the address of the daemon as long as a code for another daemon waits.
      for (const [name, link] of [...links, ['measure with a pairing code', '?view=measure#d=127.0.0.1:1&pair=ABC234']]) {
        await openSite(page, link);
        if (link.includes('pair=')) await page.getByText('A link brought a pairing code').waitFor();
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).fontSize), '30px', name);
        assert.equal(await sideways(page), 0, `${name} at ${viewport.width}`);
        assert.deepEqual(await cut(page), [], `${name} at ${viewport.width}`);
      }
    }
    await openSite(page, '?view=kernel');
    const { colors } = await canvasColors(page);
    const mark = colors['#7a4fc4']; // NVFP4, which no roof has
    assert.ok(mark.pixels > 200, `${mark.pixels} pixels: twice as wide and high as usual`);
    const box = await page.locator('canvas').boundingBox();
    await page.mouse.move(box.x + mark.x, box.y + mark.y);
    assert.match(await page.locator('tr.pointed .format').innerText(), /NVFP4/);
  } finally {
    await browser.close();
  }
});

for (const colorScheme of ['light', 'dark']) {
  pageTest(`forced colors, ${colorScheme}: charts take them, and what is chosen is told apart`, { forcedColors: 'active', colorScheme }, async (page) => {
    await loadAxe(page);
    await openSite(page, '?view=kernel');
    const [background, ink] = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body);
      return [backgroundColor, color].map((text) => `#${text.match(/\d+/g).slice(0, 3).map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`);
    });
    const { colors, width, height } = await canvasColors(page);
    assert.ok(colors[background].pixels > (width * height) / 2, 'the background is the page’s');
    assert.ok(colors[ink].pixels > 1000, 'lines, marks and text are in the color of text');
    assert.equal(colors['#2563c9'] ?? colors['#78a6ff'], undefined, 'no color of a format is left');
    const ground = (pressed) => page.locator(`.chip[aria-pressed="${pressed}"]`).first().evaluate((chip) => getComputedStyle(chip).backgroundColor);
    assert.notEqual(await ground(true), await ground(false));
    await assertAccessible(page);
    await openSite(page, '?view=plan');
    await assertAccessible(page);
  });
}

pageTest('on a phone a summary line opens the inputs, and a selected row shows its other numbers', { viewport: phone }, async (page) => {
  await openSite(page, '?view=kernel');
  assert.equal(await page.locator('#device').isVisible(), false);
  await page.locator('.summary').click();
  assert.equal(await page.locator('#device').isVisible(), true);
  await pick(page, 'device', 'h100_sxm');
  assert.match(await page.locator('.summary').innerText(), /^H100 SXM/);
  await page.locator('.summary').click();
  const order = [];
  for (const part of ['.summary', 'h1', 'canvas', '.advice .choice', 'table.formats', '.limits .fold >> visible=true']) {
    order.push((await page.locator(part).first().boundingBox()).y);
  }
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  await page.getByRole('button', { name: 'FP8 E4M3' }).click();
  assert.match(await page.locator('tr.more').innerText(), /MB · .*FLOP\/B · expected/);
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [wide, phone]) {
    const size = viewport === wide ? 'wide' : 'phone';
    pageTest(`axe finds no violation, ${size}, ${colorScheme}, with parts closed and open`, { colorScheme, viewport }, async (page) => {
      await loadAxe(page);
      await openSite(page, '?d=nowhere');
      await assertAccessible(page);
      if (viewport === phone) {
        await page.locator('.summary').click();
      }
      await page.locator('#m').fill('x');
      await page.locator('#device').click();
      await assertAccessible(page);
      await page.locator('#device').pressSequentially('no such thing');
      await assertAccessible(page);
      await page.locator('#m').fill('1');
      await page.locator('tr.chosen .explained:visible').first().focus();
      await page.locator('#explanation').waitFor();
      await assertAccessible(page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?'); // the phone layout has no button for it
      await page.getByRole('dialog').waitFor();
      await assertAccessible(page);
    });
  }
}

pageTest('the canvas has a text alternative', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const label = await page.locator('canvas').getAttribute('aria-label');
  assert.match(label, /Roofline of Jetson Orin Nano/);
  assert.ok(label.includes(await page.locator('h1').innerText()));
  assert.match(await verdict(page), /^Memory-bound: arithmetic waits for DRAM 98 % of the time\.$/);
});
