// Helpers that read and operate the page through its visible content, independent of its implementation.

/** Replaces no-break spaces between numbers and units by plain ones. */
export const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u00a0', ' ').trim();

export const verdict = async (page) => plain(await page.locator('h1').innerText());
export const chosenRow = async (page) => plain(await page.locator('tr.chosen .format').innerText());

/** Every place of the site, with the number of its charts. Places with a scenario of their own have a short one. */
export const places = {
  plan: ['?view=plan', 2],
  operators: ['?view=plan&tab=operators', 0],
  scale: ['?view=plan&tab=scale', 2],
  compare: ['?view=compare&c=d:t4&c=d:h100_sxm,batch:16&v=1', 1],
  kernel: ['?view=kernel', 1],
  model: ['?view=model', 3],
  measure: ['?view=measure', 0],
  explore: ['?view=explore', 1],
  trust: ['?view=trust', 1],
  learn: ['learn/theory/roofline.html', 0],
};

/** How far the page can be scrolled sideways. */
export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Query of the address once typed text is in it, which is after the next frame. */
export const query = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(() => setTimeout(() => resolve(location.search))));
}));

/** Types a text into a field, letter by letter, and waits for the answer. */
export async function type(page, id, text) {
  await page.locator(`#${id}`).fill('');
  await page.locator(`#${id}`).pressSequentially(text);
  await query(page);
}

/** Searches the list of a picker, selects the first match, and waits for the answer. */
export async function pick(page, id, text) {
  await page.locator(`#${id}`).click();
  await page.locator(`#${id}`).pressSequentially(text);
  await page.locator(`#${id}`).press('Enter');
  await query(page);
}

/** Reads the table: by name of the format, the texts of its cells, or the reason why it has none. */
export async function readTable(page) {
  const rows = await page.locator('table.formats tbody tr:not(.more)').evaluateAll((rows) =>
    rows.map((row) => ({
      format: row.querySelector('.format').firstChild.nextSibling.textContent,
      cells: [...row.querySelectorAll('.explained')].map((cell) => cell.textContent),
      interval: row.querySelector('.interval')?.textContent ?? '',
      refused: row.querySelector('.refused')?.textContent ?? '',
    })));
  return Object.fromEntries(rows.map(({ format, cells, interval, refused }) => [plain(format), { cells: cells.map(plain), interval: plain(interval), refused }]));
}

const prefixes = { n: 1e-9, µ: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };

/** Converts a text such as "87.2 µs" or "3.69×" to a number in the base unit. */
export function number(text) {
  const [, digits, , power, prefix] = plain(text).match(/^([\d. ]*\d)( × 10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))? ?([nµmkMGTPE]?)(s|B|×|$)/) ?? [];
  if (digits === undefined) {
    throw new Error(`not a number with a unit: ${text}`);
  }
  const exponent = [...(power ?? '')].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'.indexOf(digit)).map((digit) => (digit === 10 ? '-' : digit)).join('');
  return Number(digits.replaceAll(' ', '')) * 10 ** Number(exponent || 0) * prefixes[prefix];
}

/** Colors on the canvas, each with the number of its pixels and their center. */
export function canvasColors(page) {
  return page.locator('canvas').evaluate((canvas) => {
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true }); // avoids a warning of Chromium
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    const colors = {};
    for (let at = 0; at < data.length; at += 4) {
      const key = `#${[data[at], data[at + 1], data[at + 2]].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
      const color = (colors[key] ??= { pixels: 0, x: 0, y: 0 });
      color.pixels += 1;
      color.x += (at / 4) % width;
      color.y += Math.floor(at / 4 / width);
    }
    for (const color of Object.values(colors)) {
      color.x /= color.pixels;
      color.y /= color.pixels;
    }
    return { width, height, colors };
  });
}
