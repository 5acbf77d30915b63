// A Redis whose replica becomes the primary, behind an address that follows: connections that are
// open stay with the former primary, which refuses writes from then on.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { RedisServers, toAdminUrl } from '../support/redis-servers.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { type StoreRelay, startStoreRelay } from '../support/store-relay.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const servers = new RedisServers();
const clients: Redis[] = [];
let databases: TestDatabases;
let relay: StoreRelay;
let processes: ProcessGroup;
let store: EventStore;
let urls: readonly [string, string];

beforeAll(async () => {
  databases = await createTestDatabases();
  store = openEventStore(databases);
  const account = ['--masteruser', 'admin', '--masterauth', 'admin'];
  urls = [await servers.start(...account), await servers.start(...account)];
  relay = await startStoreRelay(urls[0]);
  processes = await startProcesses({ ...databases.env, REDIS_URL: relay.url });
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  for (const client of clients) client.disconnect();
  await relay?.close();
  servers.stop();
  await databases?.close();
});

function connect(url: string): Redis {
  const client = new Redis(toAdminUrl(url));
  clients.push(client);
  return client;
}

test('after a failover, events are accepted and stored without a restart', async () => {
  const [primary, replica] = [connect(urls[0]), connect(urls[1])];
  await replica.replicaof('127.0.0.1', new URL(urls[0]).port);
  await eventually(async () => expect(await replica.info('replication')).toContain('master_link_status:up'));
  const project = await createTestProject(databases);
  const send = (event: string) =>
    track(processes.get('web').url, project.secretKey, { event_type: event, device_id: 'd', insert_id: event });
  expect(await send('before')).toMatchObject({ status: 200 });
  await eventually(async () => expect(await store.count(project.id)).toBe(1));

  relay.redirect(urls[1]);
  await replica.replicaof('NO', 'ONE');
  await primary.replicaof('127.0.0.1', new URL(urls[1]).port);
  await eventually(async () => expect(await send('after')).toMatchObject({ status: 200 }));
  await eventually(async () => expect(await store.count(project.id)).toBe(2));
  await eventually(async () => expect(await servedBy(primary)).toEqual([]));
});

test('without another primary, a client leaves the replica once a second at most', async () => {
  const client = createRedis({ REDIS_URL: await servers.start('--replicaof', '127.0.0.1 1') });
  clients.push(client);
  let left = 0;
  client.on('close', () => {
    left += 1;
  });
  const startedAt = performance.now();
  while (performance.now() - startedAt < 2500) {
    await expect(client.set('key', 'value')).rejects.toThrow('READONLY');
  }
  expect(left).toBeGreaterThan(1);
  expect(left).toBeLessThanOrEqual((performance.now() - startedAt) / 1000 + 1);
});

/**
 * Connections of the service to a server that it has left. One that sent nothing after its first
 * INFO learns of the failover by its first write.
 */
async function servedBy(server: Redis): Promise<string[]> {
  const lines = String(await server.client('LIST', 'TYPE', 'NORMAL')).split('\n');
  return lines.filter((line) => line !== '' && !/cmd=(client|info)\b/.test(line));
}
