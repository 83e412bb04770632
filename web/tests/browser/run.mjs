// Runs every *.test.mjs of this folder against the built site, served by the real `ridgepoint serve`.
//
// `cargo xtask test` sets the environment: RIDGEPOINT_BIN, RIDGEPOINT_SITE, RIDGEPOINT_NODE_MODULES, CHROMIUM.
// Names of test files as arguments run only those.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startRidgepoint } from './servers.mjs';

const here = import.meta.dirname;
const named = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && (named.length === 0 || named.includes(name)));
if (files.length === 0) {
  throw new Error('no test file has that name');
}

// Files that measure how fast the page is. They run first and alone; the others share the cores.
const timed = ['explore.test.mjs', 'model-speed.test.mjs'];

const server = await startRidgepoint(process.env.RIDGEPOINT_SITE);
const alone = await runTests(files.filter((name) => timed.includes(name)), 1);
const together = await runTests(files.filter((name) => !timed.includes(name)), availableParallelism());
process.exitCode = alone || together;
await server.stop();

/** Runs test files, so many at a time, and returns the exit code: 0 if all passed or there are none. */
async function runTests(names, concurrency) {
  if (names.length === 0) return 0;
  const paths = names.map((name) => join(here, name));
  const tests = spawn(process.execPath, ['--test', `--test-concurrency=${concurrency}`, '--test-reporter=spec', ...paths], {
    stdio: 'inherit',
    env: { ...process.env, PAGE_URL: server.url },
  });
  return new Promise((resolve) => tests.once('close', (code) => resolve(code ?? 1)));
}
