// Vitest reporter for the tiers of tests: prints the time of each tier beside its budget, the ten
// slowest files and, last, every failed test, and fails the run when a tier exceeds its limit.
//
// A test of real processes runs once more after a failure (vitest.config.ts), because a busy
// machine can hold up anything. Such tests are listed, and more than a few of them fail the run.
//
// Budgets are seconds on two quiet cores of a fast machine. Virtual machines where page faults are
// slow take twice the CPU time, and other processes add up to half of it, so the limit of a tier
// that only computes is three times its budget, in CPU seconds (Linux: the process and its ended
// children). Tiers that wait for engines have no limit of their own: .ci/run limits the whole run.
import { cpus } from 'node:os';
import { cpuSeconds } from './cpu-time.mjs';

const CORES = 2;

/** The names are those of the projects in vitest.config.ts. */
const TIERS = {
  unit: { budget: 18, cpuMax: 3 * 18 * CORES },
  slow: { budget: 30, cpuMax: 3 * 30 * CORES },
  integration: { budget: 660 },
  e2e: { budget: 600 },
  latency: { budget: 160 },
};
const SLOWEST_COUNT = 10;
/** When more tests fail at first, the code is at fault, and not the machine. */
const SECOND_ATTEMPTS_MAX = 3;

export default class TierReporter {
  #tiers = new Map();
  #files = [];
  /** A line for each failed test, and for each file that could not run. */
  #failed = [];
  /** A line for each test that passed at its second attempt. */
  #failedOnce = [];

  onTestModuleStart(module) {
    this.#tierOf(module).startedAt ??= { seconds: now(), cpu: cpuSeconds() };
  }

  /** Vitest reports failures at the end of a run, and not those of a run that is stopped. */
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    const isFlaky = test.diagnostic()?.flaky === true;
    if (state !== 'failed' && !isFlaky) return;
    const told = errors.map(({ message, diff, stack }) => [message, diff, stack].filter(Boolean).join('\n'));
    const name = `${test.module.relativeModuleId} > ${test.fullName}`;
    process.stdout.write(`${isFlaky ? 'FAILED ONCE' : 'FAILED'} ${name}\n${told.join('\n')}\n`);
    (isFlaky ? this.#failedOnce : this.#failed).push(`${name}: ${firstLine(errors)}`);
  }

  onTestModuleEnd(module) {
    const tier = this.#tierOf(module);
    tier.files += 1;
    tier.tests += [...module.children.allTests()].length;
    tier.seconds = now() - tier.startedAt.seconds;
    const { duration, collectDuration, setupDuration } = module.diagnostic();
    const seconds = (duration + collectDuration + setupDuration) / 1000;
    this.#files.push({ path: module.relativeModuleId, seconds });
    // Of files that cannot be read, and of hooks.
    const errors = [module, ...module.children.allSuites()].flatMap((one) => one.errors());
    if (errors.length > 0) this.#failed.push(`${module.relativeModuleId}: ${firstLine(errors)}`);
  }

  onTestRunEnd() {
    this.#endTier();
    const lines = ['', `Tier          files  tests  seconds  budget  CPU seconds (${cpus().length} cores)`];
    for (const [name, { files, tests, seconds, cpu }] of this.#tiers) {
      const verdict = judge(TIERS[name], { seconds, cpu });
      if (verdict === 'LIMIT EXCEEDED') process.exitCode = 1;
      const cells = [pad(files, 6), pad(tests, 6), pad(seconds.toFixed(1), 8), pad(TIERS[name]?.budget ?? '-', 7)];
      lines.push([name.padEnd(12), ...cells, pad(cpu?.toFixed(1) ?? '-', 11), ` ${verdict}`].join(' '));
    }
    const slowest = this.#files.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST_COUNT);
    lines.push(
      '',
      'Slowest files',
      ...slowest.map(({ path, seconds }) => `${pad(seconds.toFixed(1), 8)} s  ${path}`),
      '',
    );
    const once = this.#failedOnce;
    if (once.length > 0) lines.push('Passed at the second attempt', ...once.map((line) => `  ${line}`), '');
    if (once.length > SECOND_ATTEMPTS_MAX) {
      process.exitCode = 1;
      lines.push(`LIMIT EXCEEDED: ${once.length} tests failed at first, of at most ${SECOND_ATTEMPTS_MAX}`, '');
    }
    // The end of a log is what a CI service shows.
    if (this.#failed.length > 0) lines.push('Failed', ...this.#failed.map((line) => `  ${line}`), '');
    process.stdout.write(`${lines.join('\n')}\n`);
  }

  #tierOf(module) {
    const { name } = module.project;
    const known = this.#tiers.get(name);
    if (known !== undefined) return known;
    // Tiers run one after the other: the first file of one ends the tier before it.
    this.#endTier();
    const tier = { files: 0, tests: 0, seconds: 0, cpu: undefined, startedAt: undefined };
    this.#tiers.set(name, tier);
    return tier;
  }

  #endTier() {
    const last = [...this.#tiers.values()].at(-1);
    const cpu = cpuSeconds();
    if (last !== undefined && cpu !== undefined) last.cpu ??= cpu - last.startedAt.cpu;
  }
}

function judge(tier, { seconds, cpu }) {
  if (tier === undefined) return '';
  if (cpu > tier.cpuMax) return 'LIMIT EXCEEDED';
  return seconds > tier.budget ? 'over budget' : '';
}

const firstLine = (errors) => String(errors[0]?.message ?? '').split('\n', 1)[0];
const now = () => performance.now() / 1000;
const pad = (value, width) => String(value).padStart(width);
