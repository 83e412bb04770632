// The program under test as a server of the protocol: over stdio, and as a daemon with a token.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const program = process.env.RIDGEPOINT_BIN;

/** Imports an npm package, from the folder that `cargo xtask test` names, or from node_modules beside this file. */
export function load(name) {
  const folder = process.env.RIDGEPOINT_NODE_MODULES;
  const require = createRequire(folder ? pathToFileURL(`${folder}/`) : import.meta.url);
  return import(pathToFileURL(require.resolve(name)));
}

/** Starts a daemon on any free port with a page of one file. Returns its address, a token that may read, and a function that stops it. */
export async function startDaemon() {
  const folder = mkdtempSync(join(tmpdir(), 'ridgepoint-mcp-'));
  const [site, state] = [join(folder, 'site'), join(folder, 'state')];
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), '<!doctype html>');
  const root = process.getuid?.() === 0 ? ['--allow-root'] : [];
  if (root.length) console.log('running as root: the daemon gets --allow-root');
  // Before the daemon starts, because it looks for new keys once a second only.
  const token = execFileSync(program, ['keys', 'new', '--name', 'mcp', '--scope', 'read', '--state', state], { encoding: 'utf8' }).trim().split(/\s+/).at(-1);
  const child = spawn(program, ['serve', '--site', site, '--port', '0', '--state', state, ...root], { stdio: ['ignore', 'pipe', 'inherit'], env: { RIDGEPOINT_TEST_TURN: '', ...process.env } });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (line) => resolve(String(line).trim()));
    child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}`)));
  });
  const stop = async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { url, token, stop };
}

/** Sends lines to `ridgepoint mcp` and closes its input. Returns its exit code and the messages that it wrote, one per line. */
export async function exchange(lines) {
  const child = spawn(program, ['mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let written = '';
  child.stdout.on('data', (part) => (written += part));
  child.stdin.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, messages: written.split('\n').filter(Boolean).map((line) => JSON.parse(line)) };
}
