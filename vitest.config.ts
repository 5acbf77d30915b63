// Tiers of tests, which run one after the other: `unit` and `slow` (fuzzing, simulations, random histories) need only the
// sources, `integration` and `e2e` share one set of real engines. tools/tier-reporter.mjs holds the time budget of each.
import { defineConfig } from 'vitest/config';

const ENGINES = ['test/support/stack-global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: [
            'test/unit/**/*.test.ts',
            'test/grammar/**/*.test.ts',
            'test/golden/**/*.test.ts',
            'test/tidy.test.ts',
          ],
          exclude: ['test/golden/**/*.rows.test.ts'],
        },
      },
      {
        test: {
          name: 'slow',
          sequence: { groupOrder: 1 },
          include: ['test/slow/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          sequence: { groupOrder: 2 },
          include: ['test/integration/**/*.test.ts', 'test/golden/**/*.rows.test.ts'],
          globalSetup: ENGINES,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 3 },
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ENGINES,
          testTimeout: 60_000,
          hookTimeout: 180_000,
          // Each file starts a whole stack: one at a time, so that none starves the other on a small machine.
          fileParallelism: false,
        },
      },
    ],
  },
});
