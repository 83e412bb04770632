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

// Tests of the page's speed run one after the other, without others beside them. All other tests mostly wait: one runs per core.
const alone = ['explore.test.mjs', 'model-speed.test.mjs', 'sliders.test.mjs'];
const rounds = [
  { names: files.filter((name) => !alone.includes(name)), atOnce: availableParallelism() },
  { names: files.filter((name) => alone.includes(name)), atOnce: 1 },
].filter(({ names }) => names.length > 0);

const server = await startRidgepoint(process.env.RIDGEPOINT_SITE);
for (const { names, atOnce } of rounds) {
  const paths = names.map((name) => join(here, name));
  const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`, ...paths], {
    stdio: 'inherit',
    env: { ...process.env, PAGE_URL: server.url },
  });
  const code = await new Promise((resolve) => tests.once('close', (code) => resolve(code ?? 1)));
  process.exitCode ||= code;
}
await server.stop();
