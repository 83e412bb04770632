// The link between several devices: chosen, typed, in the address, and what is said where nobody published one.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';
import { plain, verdict } from './page.mjs';

const text = async (page, selector) => plain(await page.locator(selector).innerText());
const unfold = (page) => page.locator('summary', { hasText: 'Memory, devices, drafts' }).click();

pageTest('a link is chosen for several devices, with its figures, and stays in the address', {}, async (page) => {
  await openSite(page, '?view=model&d=jetson_agx_thor');
  await unfold(page);
  assert.equal(await page.locator('#link').count(), 0, 'one device has no link');
  await page.locator('#tp').fill('2');
  await page.locator('#link').waitFor();
  assert.match(await verdict(page), /token\/s expected without the link between the devices, which nobody published/);
  assert.match(await text(page, '#link-figures'), /Nobody published it: ideal times are without it/);
  await page.locator('#link').selectOption('200gbe');
  await page.waitForURL(/link=200gbe/);
  assert.match(await text(page, '#link-figures'), /24\.8 GB\/s per direction, 5\.00 µs per hop; servethehome/);
  assert.match(await verdict(page), /token\/s expected/);
  const fast = await verdict(page);
  await page.locator('#link').selectOption('1gbe');
  await page.waitForURL(/link=1gbe/);
  assert.notEqual(await verdict(page), fast);
  await page.goBack();
  assert.equal(await page.locator('#link').inputValue(), '200gbe');
  assert.equal(await verdict(page), fast);
});

pageTest('a link of ones own is typed, and what is wrong is said', {}, async (page) => {
  await openSite(page, '?view=model&d=rtx_4090&tp=2');
  await unfold(page);
  assert.match(await text(page, '#link option:checked'), /of the device: 25\.0 GB\/s per direction/);
  await page.locator('#link').selectOption('own');
  await page.locator('#link-bandwidth').fill('12.5');
  await page.locator('#link-bandwidth').blur();
  await page.waitForURL(/link=12\.5(,|%2C)5/i);
  await page.locator('#link-latency').fill('many');
  await page.locator('#link-latency').blur();
  await page.waitForFunction(() => /link must be one of nvlink5/.test(document.querySelector('#link-message').textContent));
  assert.match(page.url(), /link=12\.5/);
  await page.waitForLoadState('networkidle');
  await page.reload();
  await unfold(page);
  assert.equal(await page.locator('#link-bandwidth').inputValue(), '12.5');
  assert.match(plain(await page.locator('main').innerText()), /link of your own: 12\.5 GB\/s per direction, 5\.00 µs per hop/);
});

pageTest('Plan says that its times are without a link that nobody published', {}, async (page) => {
  await openSite(page, '?view=plan&d=jetson_agx_thor&tp=2');
  assert.match(await verdict(page), /token\/s without the link\./);
  assert.match(plain(await page.locator('main').innerText()), /Nobody published the link between these devices/);
  await openSite(page, '?view=plan&d=jetson_agx_thor&tp=2&link=200gbe');
  assert.doesNotMatch(await verdict(page), /without the link/);
  await openSite(page, '?view=plan&d=jetson_agx_thor&tp=2&link=infiniband');
  assert.match(plain(await page.locator('.notes').innerText()), /link=infiniband.*nvlink5/);
});
