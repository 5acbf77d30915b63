// Runs a compiled command of the service, after installing and building on a fresh clone: `node
// tools/run.mjs dist/cli/explain.js …`. A deployment without the compiler runs the existing build.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { answerHelp } from './help.mjs';
import { fail, installDependencies, readEnvFile, requireNode } from './setup.mjs';

const [, , command = '', ...args] = process.argv;
answerHelp(command);
requireNode();
// `npm start` reads all of .env, and writes its other settings into DATA_DIR for commands.
if (process.env.DATA_DIR === undefined) {
  const { DATA_DIR } = readEnvFile();
  if (DATA_DIR !== undefined) process.env.DATA_DIR = DATA_DIR;
}
const isDeployed = existsSync('node_modules') && !existsSync('node_modules/typescript');
if (!isDeployed) {
  installDependencies();
  build();
}
if (!existsSync(command)) fail(`There is no ${command}: run npm run build first.`);
process.argv = [process.execPath, command, ...args];
await import(pathToFileURL(command).href);
