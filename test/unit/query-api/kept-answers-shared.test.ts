// Equal questions that are asked at once, and share one run of the engine.
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { ProjectId } from '../../../src/platform/ids.js';
import type { Counted } from '../../../src/query-api/answer.js';
import { AnswerNotWanted } from '../../../src/query-api/engine-failures.js';
import { KeptAnswers } from '../../../src/query-api/kept-answers.js';

const COUNTED: Counted = {
  page: { pieces: [Uint8Array.of(1)], byteLength: 1, rowCount: 1, rowsScanned: 1, rowsBeforeLimit: 1 },
  total: 1,
  rowsScanned: 1,
};

test('a question whose client has left does not hold its place until the run of another ends', async () => {
  const used = new Counter({ name: 'used', help: 'used', labelNames: ['result'], registers: [new Registry()] });
  const kept = new KeptAnswers(1_000_000, { used });
  const found = {
    kind: 'none',
    asked: { projectId: 'project' as ProjectId, key: 'key', bounds: [] },
    version: '',
  } as const;
  const [staying, leaving] = [new AbortController(), new AbortController()];
  let end = (_: Counted): void => {};
  const run = () =>
    new Promise<Counted>((resolve) => {
      end = resolve;
    });
  const first = kept.run(found, { run, signal: staying.signal });
  const refuse = () => Promise.reject(new AnswerNotWanted());
  const shared = kept.run(found, { run: refuse, signal: staying.signal });
  const left = kept.run(found, { run: refuse, signal: leaving.signal });
  leaving.abort();
  await expect(left).rejects.toThrow(AnswerNotWanted);
  end(COUNTED);
  expect([await first, await shared]).toEqual([COUNTED, COUNTED]);
  kept.close();
});
