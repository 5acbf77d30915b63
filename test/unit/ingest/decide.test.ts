// Bodies that are decided in a thread.
import { expect, test } from 'vitest';
import type { Credential } from '../../../src/access/credentials.js';
import { type DecideDeps, decide } from '../../../src/ingest/decide.js';
import { toOrganizationId, toProjectId } from '../../../src/platform/ids.js';

const ID = '01a2197f-6d07-7640-b0f2-1eca7dc2845b';

test('a body that is decided in a thread keeps the shard of its project', async () => {
  const credential: Credential = {
    ...{ kind: 'secret', id: 'sk_a', projectId: toProjectId(ID), organizationId: toOrganizationId(ID) },
    ...{ scopes: new Set(), ipPolicy: 'drop', timezone: 'UTC', shard: 2 },
  };
  const asked: unknown[] = [];
  const threads = {
    run: async (_task: unknown, { credential }: { credential: unknown }) => {
      asked.push(credential);
      return { header: {}, body: new Uint8Array() };
    },
  };
  const deps = { threads, findGeography: () => ({}), geographyDatabases: [], hasProxyHeaders: false, limits: {} };
  const req = { headers: {}, ip: '203.0.113.7' } as Parameters<typeof decide>[0]['req'];
  const bytes = Buffer.from(`[${'{"event_type":"a"},'.repeat(10_000)}{"event_type":"a"}]`);
  await decide({ req, credential, bytes }, deps as unknown as DecideDeps);
  expect(asked).toEqual([{ kind: 'secret', projectId: ID, ipPolicy: 'drop', shard: 2 }]);
});
