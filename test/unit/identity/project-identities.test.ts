// The log of the identity projection while a store refuses it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startIdentityProjector } from '../../../workers/project-identities.js';
import { takePort } from '../../support/take-port.js';

test('a store that refuses every attempt is logged once, with its shard', async () => {
  const warn = vi.fn();
  const port = await takePort();
  const projector = startIdentityProjector({
    config: { DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c`, CLICKHOUSE_DATABASE: 'd' },
    log: { warn, child: () => ({ warn }) },
    shards: { known: [{ id: 2 }] },
  } as never);
  await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 10_000 });
  // Two more attempts: each is a second behind the one before.
  await sleep(2500);
  await projector.close();
  expect(warn.mock.calls).toEqual([
    [expect.objectContaining({ shard: 2 }), 'profiles and mappings could not be copied; trying again'],
  ]);
});
