// Runs every *.test.mjs of this folder against the built site, served by the real `ridgepoint serve`.
//
// `cargo xtask test` sets the environment: RIDGEPOINT_BIN, RIDGEPOINT_SITE, RIDGEPOINT_NODE_MODULES, CHROMIUM.
// Names of test files as arguments run only those.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startRidgepoint } from './servers.mjs';

const here = import.meta.dirname;
const named = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && (named.length === 0 || named.includes(name)));
if (files.length === 0) {
  throw new Error('no test file has that name');
}

const server = await startRidgepoint(process.env.RIDGEPOINT_SITE);
const paths = files.map((name) => join(here, name));
const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', ...paths], {
  stdio: 'inherit',
  env: { ...process.env, PAGE_URL: server.url },
});
process.exitCode = await new Promise((resolve) => tests.once('close', (code) => resolve(code ?? 1)));
await server.stop();
