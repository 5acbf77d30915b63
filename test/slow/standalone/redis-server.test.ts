// A program of Redis that hangs when it is asked for its version.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { embeddedRedis } from '../../../standalone/redis-server.js';

const folder = mkdtempSync(join(tmpdir(), 'event-analytics-redis-'));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('it is named instead of holding the start', () => {
  // Ignores SIGTERM, and ends some time after the limit.
  const program = "#!/bin/sh\ntrap '' TERM\nfor second in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/sleep 1; done\nexit 1\n";
  writeFileSync(join(folder, 'redis-server'), program, { mode: 0o755 });
  vi.stubEnv('PATH', folder);
  expect(() => embeddedRedis({ directory: join(folder, 'data'), port: 1, password: 'x' })).toThrow(
    '"redis-server --version" does not end',
  );
}, 30_000);
