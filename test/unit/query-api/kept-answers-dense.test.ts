// Whether the next events are read for a kept answer whose range has moved: only where few events
// are expected between the former end and the new one.
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { ProjectId } from '../../../src/platform/ids.js';
import type { CompiledQuery } from '../../../src/query/compile.js';
import { EARLIEST_MS } from '../../../src/query/time/range.js';
import type { Counted } from '../../../src/query-api/answer.js';
import { KeptAnswers, type VersionedEngine } from '../../../src/query-api/kept-answers.js';

const NOW = Date.UTC(2026, 10, 22, 12, 10);
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const EARLIER = { fromMs: EARLIEST_MS, toMs: NOW - 14 * DAY_MS };

const toCounted = (rowsScanned: number): Counted => ({
  page: { pieces: [Uint8Array.of(1)], byteLength: 1, rowCount: 1, rowsScanned, rowsBeforeLimit: 1 },
  total: 1,
  rowsScanned,
});

function compileAs(toMs: number, isCompared: boolean): CompiledQuery {
  const reads = { tables: ['events'], ranges: [{ fromMs: toMs - DAY_MS, toMs }], bounds: { p1: toMs } };
  const eventBefore = { sql: 'SELECT 1', params: {}, reads: { tables: ['events'], ranges: [EARLIER], bounds: {} } };
  const statement = { sql: 'SELECT count()', params: { p1: String(toMs) }, reads };
  return { statement, rowsKept: 1, ...(isCompared && { eventBefore }) } as unknown as CompiledQuery;
}

/** How often the next events are read when a question is asked a minute later. */
async function readsAMinuteLater(rowsScanned: number, { isCompared }: { isCompared: boolean }): Promise<number> {
  const used = new Counter({ name: 'used', help: 'used', labelNames: ['result'], registers: [new Registry()] });
  const kept = new KeptAnswers(1_000_000, { used, now: () => NOW });
  let reads = 0;
  const query = async () => {
    reads += 1;
    return { json: async () => ({ data: [] }) };
  };
  const engine: VersionedEngine = {
    clickhouse: { query } as unknown as VersionedEngine['clickhouse'],
    versions: { read: async () => new Map() },
  };
  const find = (toMs: number) =>
    kept.find({ engine, projectId: 'project' as ProjectId, compiled: compileAs(toMs, isCompared), offset: 0 });
  const found = await find(NOW);
  if (found.kind !== 'none') throw new Error('the first question has no answer yet');
  const { signal } = new AbortController();
  await kept.run(found, { run: async () => toCounted(rowsScanned), signal });
  await find(NOW + MINUTE_MS);
  kept.close();
  return reads;
}

test.each([{ isCompared: false }, { isCompared: true }])(
  'the next events are read where few are expected: %o',
  async (question) => {
    expect(await readsAMinuteLater(100, question)).toBe(1);
    expect(await readsAMinuteLater(1_000_000, question)).toBe(0);
  },
);
