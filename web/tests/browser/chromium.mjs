// Starts Chromium so that it asks nobody for updates and runs in a container too. Playwright gives it a new, empty profile.
import { chromium } from './packages.mjs';

const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** More switches may be named. */
export function startChromium(more = []) {
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [...args, ...more, ...(root ? ['--no-sandbox'] : [])],
  });
}
