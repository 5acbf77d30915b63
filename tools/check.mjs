// `npm run check`: the checks that must pass before every commit, without services. They run in
// parallel, and each prints its output when it is done. Prints the whole time beside its budget,
// and fails when it exceeds its limit. `--without-tests` leaves the unit tests to `npm test`.
import { spawn } from 'node:child_process';
import { cpuSeconds } from './cpu-time.mjs';
import { answerHelp } from './help.mjs';
import { installDependencies, requireNode } from './setup.mjs';

const CORES = 2;
const BUDGET_SECONDS = 20;
// As in tier-reporter.mjs: a slow or busy machine must not fail a run.
const CPU_SECONDS_MAX = 3 * BUDGET_SECONDS * CORES;

const TSC = ['node_modules/typescript/bin/tsc', '--noEmit', '--singleThreaded', '--incremental'];
/** The compiler checks what has changed since the build info was written. */
const buildInfo = (name) => ['--tsBuildInfoFile', `node_modules/.cache/types/${name}.tsbuildinfo`];

const TESTS = {
  tests: [
    ...['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit'],
    ...['--reporter=default', '--reporter=./tools/tier-reporter.mjs'],
  ],
};
const PARTS = {
  'format and lint': ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  types: [...TSC, ...buildInfo('service')],
  'types of the tools': [...TSC, '-p', 'tools', ...buildInfo('tools')],
  'types of the console': [...TSC, '-p', 'console', ...buildInfo('console')],
  'types of the browser script': [...TSC, '-p', 'clients/browser', ...buildInfo('browser')],
  ...(process.argv.includes('--without-tests') ? {} : TESTS),
};

answerHelp('tools/check.mjs');
requireNode();
installDependencies();
const startedAt = Date.now();
const statuses = await Promise.all(Object.entries(PARTS).map(([name, command]) => run(name, command)));
const failed = Object.keys(PARTS).filter((_, index) => statuses[index] !== 0);
const isWithinLimit = reportTime();
if (failed.length > 0) process.stdout.write(`✗ failed: ${failed.join(', ')}\n`);
process.exit(isWithinLimit && failed.length === 0 ? 0 : 1);

/**
 * @param {string} name
 * @param {readonly string[]} command
 * @returns {Promise<number | null>} the exit status
 */
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
      process.stdout.write(`${output}${status === 0 ? '✓' : '✗'} ${name} (${secondsSince(startedAt)} s)\n`);
      resolve(status);
    });
  });
}

/** @returns {boolean} whether the run stayed within its limit */
function reportTime() {
  const cpu = cpuSeconds();
  const isWithin = cpu === undefined || cpu <= CPU_SECONDS_MAX;
  const used = cpu === undefined ? '' : `, ${cpu.toFixed(1)} CPU seconds of at most ${CPU_SECONDS_MAX}`;
  process.stdout.write(
    `${isWithin ? '✓' : '✗'} time of the whole check: ${secondsSince(startedAt)} s; budget ${BUDGET_SECONDS} s on ${CORES} quiet cores${used}\n`,
  );
  return isWithin;
}

/** @param {number} startedAt */
function secondsSince(startedAt) {
  return ((Date.now() - startedAt) / 1000).toFixed(1);
}
