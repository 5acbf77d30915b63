// Lines that packages print while a process runs.
import { afterEach, expect, test, vi } from 'vitest';
import { createLifecycle } from '../../../src/platform/lifecycle.js';
import type { Logger } from '../../../src/platform/log.js';

const printWarning = console.warn;

afterEach(() => {
  console.warn = printWarning;
  for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal);
});

test('a warning of a package is a line of the log, and the same one is logged once', () => {
  const warn = vi.fn();
  createLifecycle({ warn, error: vi.fn() } as unknown as Logger);
  warn.mockClear();
  for (let connection = 0; connection < 60; connection++) console.warn('Eviction policy is %s', 'allkeys-lru');
  expect(warn.mock.calls).toEqual([[{ err: 'Eviction policy is allkeys-lru' }, 'a package warns']]);
});
