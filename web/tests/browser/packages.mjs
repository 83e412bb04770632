// The npm packages, from where `cargo xtask test` put them, or from node_modules beside this file.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const folder = process.env.RIDGEPOINT_NODE_MODULES;
const require = createRequire(folder ? pathToFileURL(`${folder}/`) : import.meta.url);

export const { chromium } = require('playwright-core');
export const axeScript = require.resolve('axe-core/axe.min.js');
