// A PostgreSQL server whose time zone is not UTC: days of the service are days in UTC all the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listDueKeeps } from '../../src/keeping/store.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { readUsage } from '../../src/usage/store.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(() => databases?.close());

async function inTimeZone<T>(zone: string, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const options = encodeURIComponent(`-c TimeZone=${zone}`);
  const postgres = createPostgres({ DATABASE_URL: `${databases.config.DATABASE_URL}?options=${options}` });
  try {
    return await work(postgres);
  } finally {
    await postgres.destroy();
  }
}

test.each(['UTC', 'America/Los_Angeles', 'Asia/Tokyo'])(
  'a changed keep waits for midnight in UTC (%s)',
  async (zone) => {
    const projectId = toProjectId((await createTestProject(databases)).id);
    const due = (since: string, now: string) =>
      inTimeZone(zone, async (postgres) => {
        const keep = { keep: JSON.stringify({ default: 30, events: [] }), keep_since: new Date(since) };
        await postgres('definitions')
          .insert({ project_id: projectId, version: 1, checksum: '', ...keep })
          .onConflict('project_id')
          .merge();
        return (await listDueKeeps(postgres, Date.parse(now))).some((one) => one.projectId === projectId);
      });
    expect(await due('2026-03-02T00:00:00Z', '2026-03-02T23:59:59Z')).toBe(false);
    expect(await due('2026-03-01T23:59:59Z', '2026-03-02T00:00:00Z')).toBe(true);
  },
);

// Where a day has no midnight, because the clocks go forward then.
test.each(['UTC', 'Africa/Cairo'])('usage has every day once (%s)', async (zone) => {
  const projectId = toProjectId((await createTestProject(databases)).id);
  const days = ['2026-04-23', '2026-04-24', '2026-04-25'].map((date, index) => ({ date, events_ingested: 7 + index }));
  const read = await inTimeZone(zone, async (postgres) => {
    await postgres('usage_days').insert(
      days.map(({ date, events_ingested }) => ({ project_id: projectId, day: date, events_ingested })),
    );
    return readUsage(postgres, projectId, { from: '2026-04-23', to: '2026-04-25' });
  });
  expect(read).toMatchObject(days);
});
