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

function keep() {
  const used = new Counter({ name: 'used', help: 'used', labelNames: ['result'], registers: [new Registry()] });
  const found = {
    kind: 'none',
    asked: { projectId: 'project' as ProjectId, key: 'key', bounds: [] },
    version: '',
  } as const;
  return { kept: new KeptAnswers(1_000_000, { used }), found };
}

test('a question whose client has left does not hold its place until the run of another ends', async () => {
  const { kept, found } = keep();
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

test('when the client of a run has left, one of those who wait runs it for all of them', async () => {
  const { kept, found } = keep();
  const [staying, leaving] = [new AbortController(), new AbortController()];
  const cancelled = () =>
    new Promise<Counted>((_, reject) => {
      leaving.signal.addEventListener('abort', () => reject(new AnswerNotWanted()));
    });
  let runs = 0;
  const run = async () => {
    runs += 1;
    return COUNTED;
  };
  const left = kept.run(found, { run: cancelled, signal: leaving.signal });
  const waiting = Array.from({ length: 4 }, () => kept.run(found, { run, signal: staying.signal }));
  leaving.abort();
  await expect(left).rejects.toThrow(AnswerNotWanted);
  expect(await Promise.all(waiting)).toEqual(Array(4).fill(COUNTED));
  expect(runs).toBe(1);
  kept.close();
});
