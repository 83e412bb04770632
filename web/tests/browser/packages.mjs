// npm packages, from the folder that `cargo xtask test` names, or from node_modules beside this file.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const folder = process.env.RIDGEPOINT_NODE_MODULES;
const require = createRequire(folder ? pathToFileURL(`${folder}/`) : import.meta.url);

export const { chromium } = require('playwright-core');
export const axeScript = require.resolve('axe-core/axe.min.js');
