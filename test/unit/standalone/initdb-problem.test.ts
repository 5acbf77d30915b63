// The reason of a failed initdb, in the output of the embedded version.
import { expect, test } from 'vitest';
import { findProblem } from '../../../standalone/postgres-server.js';

test('a full disk is named', () => {
  const output = `creating configuration files ... ok
running bootstrap script ... 2026-11-27 16:17:12.437 UTC [1363] FATAL:  could not extend file "base/1/2691": No space left on device
2026-11-27 16:17:12.437 UTC [1363] HINT:  Check free disk space.
2026-11-27 16:17:12.438 UTC [1363] PANIC:  cannot abort transaction 1, it was already committed
Aborted
child process exited with exit code 134
initdb: removing data directory "/tmp/pg"
`;
  expect(findProblem(output)).toBe('FATAL: could not extend file "base/1/2691": No space left on device');
});

test('an error of initdb itself is named', () => {
  const output = `initdb: error: could not create directory "/tmp/pg": No space left on device\n`;
  expect(findProblem(output)).toBe('error: could not create directory "/tmp/pg": No space left on device');
});

test('without an error the end of the output stands for it', () => {
  expect(findProblem('a\nb\nc\nd\n')).toBe('b c d');
});
