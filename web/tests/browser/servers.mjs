// Servers for the tests, each a process of its own; `start` waits until it has printed its address.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts the real companion, which serves the built site. */
export function startRidgepoint(site, { state = newState(), port = 0, hooks } = {}) {
  const root = process.getuid?.() === 0 ? ['--allow-root'] : [];
  if (root.length) console.log('running as root: the daemon gets --allow-root');
  return start(process.env.RIDGEPOINT_BIN, ['serve', '--site', site, '--port', String(port), '--state', state, ...root], hooks && { RIDGEPOINT_TEST_HOOKS: JSON.stringify(hooks) });
}

/** Creates a folder for the state of a daemon. */
export const newState = () => mkdtempSync(join(tmpdir(), 'ridgepoint-state-'));

/** Starts a plain server (Python's), which rewrites nothing and sets no special headers, like most static hosts. */
export function startPlain(folder) {
  return start('python3', ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory', folder]);
}

/** Starts a server. Returns its address and a function that stops it, optionally with a given signal. */
async function start(program, args, more) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { RIDGEPOINT_TEST_TURN: '', ...process.env, ...more } });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = (signal) => (child.kill(signal), ended);
  try {
    return { url: await addressPrintedBy(child, program), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressPrintedBy(child, program) {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error(`${program} named no address within 20 s:\n${printed}`)), 20_000);
    const read = (text) => {
      printed += text;
      const found = printed.match(/http:\/\/(?:127\.0\.0\.1|localhost):\d+\//);
      if (found) {
        clearTimeout(timer);
        resolve(found[0]);
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${printed}`)));
  });
}
