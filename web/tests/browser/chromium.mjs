// Starts Chromium without update checks, also in a container. Playwright gives it a new, empty profile.
import { chromium } from './packages.mjs';

const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser; `more` are further switches of its command line. */
export function startChromium(more = []) {
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [...args, ...more, ...(root ? ['--no-sandbox'] : [])],
  });
}
