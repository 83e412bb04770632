// Runs every *.test.mjs of this folder against the built site, served by the real `ridgepoint serve`.
//
// `cargo xtask test` sets the environment: RIDGEPOINT_BIN, RIDGEPOINT_SITE, RIDGEPOINT_NODE_MODULES, CHROMIUM.
// Names of test files as arguments run only those.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startRidgepoint } from './servers.mjs';

/** More files than this do not fail by chance. */
const MOST_AGAIN = 3;

const here = import.meta.dirname;
const named = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && (named.length === 0 || named.includes(name)));
if (files.length === 0) {
  throw new Error('no test file has that name');
}

const server = await startRidgepoint(process.env.RIDGEPOINT_SITE);
const notes = mkdtempSync(join(tmpdir(), 'ridgepoint-browser-'));
const list = join(notes, 'failed');

/** Runs test files; gives the exit code, and those that failed. */
async function run(paths) {
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout', `--test-reporter=${join(here, 'failed-files.mjs')}`, `--test-reporter-destination=${list}`];
  const tests = spawn(process.execPath, ['--test', ...reporters, ...paths], { stdio: 'inherit', env: { ...process.env, PAGE_URL: server.url } });
  const code = await new Promise((resolve) => tests.once('close', (code) => resolve(code ?? 1)));
  return { code, failed: [...new Set(readFileSync(list, 'utf8').split('\n').filter(Boolean))] };
}

const first = await run(files.map((name) => join(here, name)));
process.exitCode = first.code;
// A browser on a busy machine can be late. What fails twice fails; what fails once is said aloud.
if (first.code !== 0 && first.failed.length > 0 && first.failed.length <= MOST_AGAIN) {
  console.log(`AGAIN, because they failed: ${first.failed.map((path) => basename(path)).join(', ')}`);
  process.exitCode = (await run(first.failed)).code;
  console.log(process.exitCode === 0 ? 'they PASSED ONLY THE SECOND TIME' : 'they failed the second time, too');
}
rmSync(notes, { recursive: true });
await server.stop();
