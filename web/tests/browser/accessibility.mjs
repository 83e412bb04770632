// axe-core checks of a page. The policy forbids scripts that are added later, so axe is injected before the page is loaded.
import assert from 'node:assert/strict';
import { axeScript } from './packages.mjs';

/** Call before the page is opened. */
export function loadAxe(page) {
  return page.addInitScript({ path: axeScript });
}

/** Fails with each violated rule, its explanation and the elements that violate it. */
export async function assertAccessible(page) {
  const { violations } = await page.evaluate(() => window.axe.run());
  const summary = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
  assert.deepEqual(summary, [], 'axe found violations');
}
