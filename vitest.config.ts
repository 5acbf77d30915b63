// Three kinds of test: `unit` needs nothing but the sources, `integration` and `e2e` share one set of real engines. The kinds
// follow each other: what waits for other processes must not compete with everything else for two cores.
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
          name: 'integration',
          sequence: { groupOrder: 1 },
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
          sequence: { groupOrder: 2 },
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
