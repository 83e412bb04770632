// Screenshots of a page for review: node shots.mjs URL FOLDER [NAME]
//
// Writes NAME-wide-light.png, NAME-wide-dark.png, NAME-phone-light.png and NAME-phone-dark.png. They are not tracked.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startChromium } from './chromium.mjs';

const [url, folder, name = 'page'] = process.argv.slice(2);
if (!url || !folder) {
  throw new Error('usage: node shots.mjs URL FOLDER [NAME]');
}
const sizes = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

await mkdir(folder, { recursive: true });
const browser = await startChromium();
for (const [size, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: size === 'phone' ? 2 : 1 });
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.locator('main').waitFor();
    const path = join(folder, `${name}-${size}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
    console.log(path);
    await page.close();
  }
}
await browser.close();
