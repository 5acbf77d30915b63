// While a store does not answer, each query is answered without it, and the log says so once: a
// project that asks much must not fill the log.
import { afterAll, expect, test, vi } from 'vitest';
import { DefinitionsReader } from '../../../src/definitions/reader.js';
import { createClickHouse } from '../../../src/platform/clickhouse/client.js';
import { newUuidV7, toProjectId } from '../../../src/platform/ids.js';
import type { Logger } from '../../../src/platform/log.js';
import { createPostgres } from '../../../src/platform/postgres/client.js';
import { createProjectOwners } from '../../../src/query-api/project-owners.js';
import { createVersionReader } from '../../../src/query-api/table-versions.js';
import { takePort } from '../../support/take-port.js';

/** Nothing listens there. */
const port = await takePort();
const postgres = createPostgres({ DATABASE_URL: `postgres://127.0.0.1:${port}/none` });
const clickhouse = createClickHouse({ CLICKHOUSE_URL: `http://127.0.0.1:${port}`, CLICKHOUSE_DATABASE: 'none' });
const newProject = () => toProjectId(newUuidV7());

afterAll(async () => {
  await postgres.destroy();
  await clickhouse.close();
});

test.each<[string, (log: Logger) => () => Promise<unknown>]>([
  [
    'the definitions of a project',
    (log) => {
      const reader = new DefinitionsReader(postgres, log);
      return () => reader.read(newProject());
    },
  ],
  [
    'the owner of a project',
    (log) => {
      const ownerOf = createProjectOwners(postgres, log);
      return () => ownerOf(newProject());
    },
  ],
  ['the versions of the tables', (log) => createVersionReader({ clickhouse, log }).read],
])('%s could not be read: one line for many queries', async (what, create) => {
  const log = { warn: vi.fn() };
  const read = create(log as unknown as Logger);
  for (let query = 0; query < 3; query += 1) await read();
  expect(log.warn.mock.calls).toEqual([
    [expect.objectContaining({ err: expect.any(Error) }), `${what} could not be read`],
  ]);
});
