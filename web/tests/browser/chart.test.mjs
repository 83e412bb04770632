// The canvas agrees with the table: marks in the colors of the formats, which move with the shape.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { canvasColors, chosenRow, type } from './page.mjs';

const light = { background: '#fbfbfa', FP16: '#cf6a08', INT4: '#2563c9', INT8: '#0b8fa6', NVFP4: '#7a4fc4', FP8: '#2f8f46' };
const dark = { background: '#141517', FP16: '#f39a4a', INT4: '#78a6ff', INT8: '#4cc6dc', NVFP4: '#b095f0', FP8: '#62c67a' };

/** Waits until the canvas is drawn in dark colors: after the page's, whose style changes first. */
async function canvasIsDark(page) {
  const pixels = async () => (await canvasColors(page)).colors[dark.background]?.pixels ?? 0;
  for (let polls = 0; polls < 50 && await pixels() <= 1000; polls += 1) await page.waitForTimeout(100);
  assert.ok(await pixels() > 1000);
}

for (const [colorScheme, theme] of Object.entries({ light, dark })) {
  for (const deviceScaleFactor of [1, 2]) {
    pageTest(`all marks are on the canvas in ${colorScheme} colors at a pixel ratio of ${deviceScaleFactor}`, { colorScheme, deviceScaleFactor }, async (page) => {
      await openSite(page, '?view=kernel');
      const { width, height, colors } = await canvasColors(page);
      const shown = await page.locator('canvas').evaluate((canvas) => [canvas.clientWidth, canvas.clientHeight]);
      assert.deepEqual([width, height], shown.map((length) => Math.round(length * deviceScaleFactor)));
      assert.ok(colors[theme.background].pixels > (width * height) / 5);
      for (const [format, color] of Object.entries(theme)) {
        assert.ok((colors[color]?.pixels ?? 0) > 30 * deviceScaleFactor ** 2, `${format} ${color} is missing`);
      }
    });
  }
}

pageTest('points move right and up when M grows', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const before = (await canvasColors(page)).colors;
  await type(page, 'm', '8');
  const after = (await canvasColors(page)).colors;
  // The colors of INT8 and FP8 are also used by roofs; that of NVFP4 only by its mark.
  assert.ok(after[light.NVFP4].x > before[light.NVFP4].x + 50, 'right');
  assert.ok(after[light.NVFP4].y < before[light.NVFP4].y - 30, 'up');
});

pageTest('the chart follows the size of the window and the color button', {}, async (page) => {
  await openSite(page, '?view=kernel');
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.waitForFunction(() => {
    const canvas = document.querySelector('canvas');
    return canvas.width === Math.round(canvas.clientWidth * devicePixelRatio);
  });
  await page.getByRole('button', { name: 'Dark colors' }).click();
  await canvasIsDark(page);
  await page.reload();
  await page.locator('main').waitFor();
  await canvasIsDark(page); // the choice is kept
});

pageTest('the chart follows a change of the system colors', { colorScheme: 'light' }, async (page) => {
  await openSite(page, '?view=kernel');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(20, 21, 23)');
  await canvasIsDark(page);
});

pageTest('a point under the pointer highlights its row, and a click selects it', {}, async (page) => {
  await openSite(page, '?view=kernel');
  const { colors } = await canvasColors(page);
  const box = await page.locator('canvas').boundingBox();
  const { x, y } = colors[light.NVFP4];
  await page.mouse.move(box.x + x, box.y + y);
  assert.match(await page.locator('tr.pointed .format').innerText(), /NVFP4/);
  await page.mouse.click(box.x + x, box.y + y);
  assert.match(await chosenRow(page), /^NVFP4/);
});

pageTest('the page works when storage is blocked', {}, async (page) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('forbidden', 'SecurityError'); } });
  });
  await openSite(page, '?view=kernel');
  await page.getByRole('button', { name: 'Dark colors' }).click();
  await canvasIsDark(page);
});
