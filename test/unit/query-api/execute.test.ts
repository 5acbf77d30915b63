// Statements of a query whose client has left.
import { expect, test } from 'vitest';
import { createLogger } from '../../../src/platform/log.js';
import { AnswerNotWanted } from '../../../src/query-api/engine-failures.js';
import { beginExecution, type ExecuteDeps } from '../../../src/query-api/execute.js';

test('a statement whose client has left is not sent', async () => {
  let sent = 0;
  const query = async () => {
    sent += 1;
    throw new Error('the engine is not there');
  };
  const client = new AbortController();
  const execution = beginExecution(
    {
      clickhouse: { query } as unknown as ExecuteDeps['clickhouse'],
      limits: { timeoutMs: 1000, memoryBytes: 1 },
      log: createLogger({ process: 'test', level: 'silent' }),
    },
    {
      requestId: 'request',
      signal: client.signal,
      share: { current: () => ({ memoryBytes: 1, threads: 1, niceValue: 0 }), raiseMemory: async () => false },
      deadlineMs: performance.now() + 1000,
    },
  );
  await expect(execution.run({ sql: 'SELECT 1', params: {} })).rejects.toThrow('the engine is not there');
  client.abort();
  await expect(execution.run({ sql: 'SELECT 1', params: {} })).rejects.toThrow(AnswerNotWanted);
  expect(sent).toBe(1);
});
