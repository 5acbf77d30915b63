// A kept answer of a range that ends now holds while the project has no new event and no bucket of
// the answer ends.
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { ProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';
import type { Counted } from '../../../src/query-api/answer.js';
import { KeptAnswers, type VersionedEngine } from '../../../src/query-api/kept-answers.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30, 10);
/** Half a minute before the end of a week. */
const SUNDAY = Date.UTC(2026, 10, 22, 23, 59, 30);
const MINUTE_MS = 60_000;

const COUNTED: Counted = {
  page: { pieces: [Uint8Array.of(1)], byteLength: 1, rowCount: 1, rowsScanned: 1, rowsBeforeLimit: 1 },
  total: 1,
  rowsScanned: 1,
};

/** Whether the answer is used again when the query is asked a minute later. */
async function holds(query: string, askedMs: number, timezone: string): Promise<boolean> {
  const used = new Counter({ name: 'used', help: 'used', labelNames: ['result'], registers: [new Registry()] });
  const kept = new KeptAnswers(1_000_000, { used, now: () => askedMs });
  const engine: VersionedEngine = {
    clickhouse: {
      query: async () => ({ json: async () => ({ data: [] }) }),
    } as unknown as VersionedEngine['clickhouse'],
    versions: { read: async () => new Map() },
  };
  const find = (nowMs: number) => {
    const compiled = compile(query, { projectId: PROJECT, nowMs, timezone, limit: 100, offset: 0 });
    return kept.find({ engine, projectId: PROJECT, compiled, offset: 0 });
  };
  const found = await find(askedMs);
  if (found.kind !== 'none') throw new Error('the first question has no answer yet');
  await kept.run(found, { run: async () => COUNTED, signal: new AbortController().signal });
  const { kind } = await find(askedMs + MINUTE_MS);
  kept.close();
  return kind === 'answer';
}
const PROJECT = '6f1c2f3e-2222-4b5a-9c3d-1a2b3c4d5e6f' as ProjectId;

test.each([
  'a | last 30d | count by day',
  'a | last 24h | count by hour',
  'a | last 12mo | unique by month',
  'a | last 30d | count by weekday',
  'a | today | count by hour',
  'a | last 30d | unique by day | rolling 7d',
  'formula count(a) / count(b) | last 30d | by week',
  'funnel a -> b | last 30d | by day',
  'retention a returning b | last 30d',
  'retention a by day | last 14d | compare previous',
  'lifecycle a by week | last 8w',
  'sessions | last 30d',
])('%s is answered again a minute later', async (query) => {
  for (const timezone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
    expect(await holds(query, NOW, timezone), timezone).toBe(true);
  }
});

test.each([
  'a | last 30d | count by hour',
  'a | last 30d | count by day',
  'sessions | last 30d',
  'retention a by week',
  'lifecycle a by day | last 14d',
  'funnel a -> b | last 30d | by day',
  'formula count(a) / count(b) | last 30d | by week',
])('%s is asked again when its buckets are others', async (query) => {
  expect(await holds(query, SUNDAY, 'UTC')).toBe(false);
  expect(await holds(query, SUNDAY - MINUTE_MS, 'UTC')).toBe(true);
});
