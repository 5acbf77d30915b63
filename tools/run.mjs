// Runs a compiled command of the service, after installing and building on a fresh clone: `node
// tools/run.mjs dist/cli/explain.js …`. A deployment without the compiler runs the existing build.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build, fail, installDependencies, requireNode } from './setup.mjs';

requireNode();
const isDeployed = existsSync('node_modules') && !existsSync('node_modules/typescript');
if (!isDeployed) {
  installDependencies();
  build();
}
const [, , command = '', ...args] = process.argv;
if (!existsSync(command)) fail(`There is no ${command}: run npm run build first.`);
process.argv = [process.execPath, command, ...args];
await import(pathToFileURL(command).href);
