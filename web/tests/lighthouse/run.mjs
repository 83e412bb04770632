// Lighthouse over every place of the built site, on a phone and a desktop computer as it simulates them, served by the real
// `ridgepoint serve`: medians as a table in Markdown. `cargo xtask lighthouse` sets the environment.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startRidgepoint } from '../browser/servers.mjs';

const { RIDGEPOINT_SITE: site, RIDGEPOINT_NODE_MODULES: modules, CHROMIUM: chromium, RUNS: runs = '5' } = process.env;
const require = createRequire(pathToFileURL(`${modules}/`));
const imported = async (name) => import(pathToFileURL(require.resolve(name)));
const { default: lighthouse, desktopConfig } = await imported('lighthouse');
const { launch } = await imported('chrome-launcher');

const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const TIMES = ['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time'];

/** The places as the documents name them, and the documents themselves. */
const html = readFileSync(join(site, 'learn/index.html'), 'utf8');
const nav = html.match(/<nav aria-label="Views">(.*?)<\/nav>/s)[1];
const places = [...nav.matchAll(/href="\.\.\/([^"]*)"[^>]*>([^<]*)</g)].map(([, query, name]) => ({ name, query }));
if (places.length === 0) throw new Error('the documents name no places');

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** One run in a browser of its own, which knows nothing of the runs before. A trace that began too late has no result: it is tried again. */
async function once(address, config, attempts = 3) {
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const chrome = await launch({ chromePath: chromium, chromeFlags: ['--headless', '--disable-gpu', ...root] });
  try {
    const { lhr } = await lighthouse(address, { port: chrome.port, logLevel: 'error', onlyCategories: CATEGORIES }, config);
    if (!lhr.runtimeError) return lhr;
    if (lhr.runtimeError.code !== 'NO_NAVSTART' || attempts === 1) throw new Error(`${address}: ${lhr.runtimeError.message}`);
  } finally {
    chrome.kill();
  }
  console.error(`  ${address}: no result, tried again`);
  return once(address, config, attempts - 1);
}

async function measured(address, config) {
  const results = [];
  for (let run = 0; run < Number(runs); run += 1) results.push(await once(address, config));
  wrong(results[0]);
  const scores = CATEGORIES.map((name) => Math.round(100 * median(results.map((lhr) => lhr.categories[name].score))));
  const times = TIMES.map((name) => median(results.map((lhr) => lhr.audits[name].numericValue)));
  return [...scores, ...times.map((time) => `${(time / 1000).toFixed(2)} s`)];
}

/** Names the audits that cost points, on the error output. */
function wrong({ categories, audits }) {
  for (const { id, auditRefs } of Object.values(categories)) {
    const failed = auditRefs.filter((ref) => ref.weight > 0 && audits[ref.id].score !== null && audits[ref.id].score < 0.9);
    for (const ref of failed) console.error(`  ${id}: ${audits[ref.id].title} ${audits[ref.id].displayValue ?? ''}`);
  }
}

const server = await startRidgepoint(site);
try {
  console.log(`| place | as | ${[...CATEGORIES, 'first text', 'largest text', 'blocked'].join(' | ')} |`);
  console.log(`| --- | --- |${' ---: |'.repeat(CATEGORIES.length + TIMES.length)}`);
  for (const { name, query } of places) {
    for (const [device, config] of [['phone', undefined], ['desktop', desktopConfig]]) {
      const row = await measured(server.url + query, config);
      console.log(`| ${[name, device, ...row].join(' | ')} |`);
    }
  }
} finally {
  await server.stop();
}
