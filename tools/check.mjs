// `npm run check`: the checks that must pass before every commit, without services, in 10 to 30
// seconds on two cores. They run in parallel, and each prints its output when it is done.
import { spawn } from 'node:child_process';
import { installDependencies, requireNode } from './setup.mjs';

const PARTS = {
  'format and lint': ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  types: ['node_modules/typescript/bin/tsc', '--noEmit'],
  'types of the browser script': ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'clients/browser'],
  tests: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit'],
};

requireNode();
installDependencies();
const statuses = await Promise.all(Object.entries(PARTS).map(([name, command]) => run(name, command)));
process.exit(statuses.every((status) => status === 0) ? 0 : 1);

function run(name, command) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (status) => {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      process.stdout.write(`${output}${status === 0 ? '✓' : '✗'} ${name} (${seconds} s)\n`);
      resolve(status);
    });
  });
}
