// Queries that count what the coming night deletes.
import { expect, test } from 'vitest';
import { countDue } from '../../../src/keeping/count-due.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const projectId = '0190b5c2-0000-7000-8000-000000000001' as ProjectId;

test('events of any name are counted by a query that compiles', async () => {
  const event = 'tab\t feed\f "quoted" \\ \u0001';
  const queries: string[] = [];
  const keep = { default: 10, events: [{ event, days: 5 }] };
  const { signal } = new AbortController();
  await countDue(
    async ({ query }) => {
      queries.push(query);
      return { kind: 'busy' };
    },
    { projectId, keep, signal },
    NOW,
  );
  expect(queries).toHaveLength(2);
  for (const query of queries) {
    const { params } = compile(query, { projectId, nowMs: NOW, timezone: 'UTC', limit: 1, offset: 0 }).statement;
    expect(JSON.stringify(params)).toContain(JSON.stringify(event));
  }
});
