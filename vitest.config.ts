// Tiers of tests, which run one after the other: `unit` and `slow` (fuzzing, simulations, random
// histories) need only the sources; `integration`, `e2e` and `latency` share one set of real
// engines. tools/tier-reporter.mjs holds the time budget of each.
import { defineConfig } from 'vitest/config';
import LongestFirst from './tools/longest-first.mjs';

const ENGINES = ['test/support/stack-global-setup.ts'];
const RANDOM = ['test/support/seed.ts'];

// These tests only compute: files share the modules of a worker thread, and the tests of a file
// must undo what they change.
const IN_SHARED_THREADS = { pool: 'threads', isolate: false, maxWorkers: 2 } as const;

// The state of these tests is in databases, which are new for each file, or in processes of their
// own: files share the modules of a worker process. More workers than cores where a file waits for
// processes and engines half of its time.
const IN_SHARED_PROCESSES = { pool: 'forks', isolate: false } as const;

// A busy machine can hold up a process for seconds. The end of a run lists what failed at first
// (tools/tier-reporter.mjs); tests that only compute have one attempt.
const SECOND_ATTEMPT = { retry: 1 } as const;

// The last lines of a run name what was expected; Vitest cuts that after 40 characters otherwise.
const WHOLE_MESSAGES = { chaiConfig: { truncateThreshold: 400 } } as const;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          ...WHOLE_MESSAGES,
          setupFiles: RANDOM,
          ...IN_SHARED_THREADS,
          sequence: { groupOrder: 0 },
          include: [
            'test/unit/**/*.test.ts',
            'test/grammar/**/*.test.ts',
            'test/golden/**/*.test.ts',
            'test/tidy.test.ts',
          ],
          exclude: ['test/golden/**/*.rows.test.ts'],
          // For tests that never end: a busy machine stretches one of a second to several.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'slow',
          ...WHOLE_MESSAGES,
          setupFiles: RANDOM,
          // One file at a time in a process: some measure its CPU time.
          ...IN_SHARED_PROCESSES,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          include: ['test/slow/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'integration',
          ...WHOLE_MESSAGES,
          ...SECOND_ATTEMPT,
          setupFiles: RANDOM,
          sequence: { groupOrder: 2 },
          include: ['test/integration/**/*.test.ts', 'test/golden/**/*.rows.test.ts'],
          globalSetup: ENGINES,
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...IN_SHARED_PROCESSES,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'e2e',
          ...WHOLE_MESSAGES,
          ...SECOND_ATTEMPT,
          sequence: { groupOrder: 3 },
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ENGINES,
          // As long as other waits (test/support/eventually.ts): a busy machine is no failure.
          expect: { poll: { timeout: 30_000 } },
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...IN_SHARED_PROCESSES,
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'latency',
          ...WHOLE_MESSAGES,
          ...SECOND_ATTEMPT,
          sequence: { groupOrder: 4 },
          include: ['test/latency/**/*.test.ts'],
          globalSetup: ENGINES,
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...IN_SHARED_PROCESSES,
          // Latencies of one project while another attacks: nothing else may run.
          fileParallelism: false,
        },
      },
    ],
  },
});
