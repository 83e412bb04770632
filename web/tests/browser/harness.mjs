// Harness of the browser tests: each test gets a fresh page, and any problem that the page reports fails the test.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChromium } from './chromium.mjs';

/** The address of the site under test; ends with a slash. */
export const siteUrl = process.env.PAGE_URL;

let browser;
after(() => browser?.close());

/** Defines a test. `body` gets a fresh page; `options` are Playwright's for a context (viewport, colorScheme, ...). */
export function pageTest(name, options, body) {
  test(name, { timeout: 60_000 }, async () => {
    const problems = await withPage(options, body);
    assert.deepEqual(problems, [], 'the page reported problems');
  });
}

/** Runs `body` with a fresh page and returns the problems that the page reported. */
export async function withPage(options, body) {
  browser ??= await startChromium();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  try {
    const page = await context.newPage();
    const problems = collectProblems(page);
    await body(page);
    return problems();
  } finally {
    await context.close();
  }
}

/** Opens the site and waits until the program has drawn something. `query` starts with a question mark. */
export async function openSite(page, query = '', url = siteUrl) {
  await page.goto(url + query);
  await page.locator('main').waitFor();
}

/** Collects the problems of a page. Chromium reports violations of the content security policy as errors on the console. */
function collectProblems(page) {
  const [problems, dropped, documentOf] = [[], [], new WeakMap()];
  let [documents, opens] = [0, false];
  page.on('request', (request) => {
    opens ||= request.isNavigationRequest() && request.frame() === page.mainFrame();
    documentOf.set(request, documents);
  });
  // The old document runs, and sends requests, until the new one is there. A change of the address alone opens no document.
  page.on('framenavigated', (frame) => {
    if (!opens || frame !== page.mainFrame()) return;
    [documents, opens] = [documents + 1, false];
  });
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('requestfailed', (request) => dropped.push(request));
  page.on('response', (response) => response.status() >= 400 && problems.push(`${response.status()}: ${response.url()}`));
  // Leaving a document aborts its pending requests; no other request may be aborted.
  // The browser itself fetches the icon, at any time: also for a document that is just being left.
  const isIcon = (request) => /\/icon-[0-9a-f]+\.svg$/.test(request.url());
  const isLeft = (request) => request.failure()?.errorText === 'net::ERR_ABORTED' && (isIcon(request) || documentOf.get(request) < documents);
  return () => [...problems, ...dropped.filter((request) => !isLeft(request)).map((request) => `failed: ${request.url()} ${request.failure()?.errorText}`)];
}
