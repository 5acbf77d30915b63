// Changes the addresses of a shard: another name, port, account or password of the same server, or
// a server with a copy of its data. Of replicas also their order, and an empty server in the place
// of one.
import { rowsOf, withClient } from '../platform/clickhouse/client.js';
import { hasTable } from '../platform/clickhouse/has-table.js';
import { FIRST_SHARD, REGISTRY_EVERY_MS, urlsOf } from '../platform/clickhouse/shards.js';
import type { ProjectId } from '../platform/ids.js';
import { withAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import type { ShardsDeps } from './add-shard.js';
import { findSameServer, hostOf, requireMigrated, requireNewServers } from './check-servers.js';
import { findBusiest, listRegistered, type RegisteredShard, requireRegistered, setUrls } from './store.js';

/** Throws when the new addresses do not lead to the data of the shard. May be repeated. */
export async function changeAddress(deps: ShardsDeps, shard: number, urls: readonly string[]): Promise<void> {
  const { postgres, signal, say } = deps;
  const onWait = () => say('waiting for another command that adds a shard or changes its address');
  await withAdvisoryLock(postgres, { of: 'shards', signal, onWait }, () => changeAlone(deps, shard, urls));
}

async function changeAlone(
  { config, postgres, say }: ShardsDeps,
  shard: number,
  urls: readonly string[],
): Promise<void> {
  const database = config.CLICKHOUSE_DATABASE;
  const registered = await listRegistered(postgres);
  const before = requireRegistered(registered, shard).urls;
  if (shard === FIRST_SHARD && before.length === 0) {
    throw new Error('the address of shard 1 is CLICKHOUSE_URL: change this setting, and restart every process');
  }
  if (urls.length !== before.length) {
    throw new Error(`name as many URLs as the shard ${shard} has: ${before.length}, not ${urls.length}`);
  }
  const [first = ''] = urls;
  // Another replica may become the first while the first does not answer.
  if (!isSameSet(before, urls)) await requireData({ config, postgres }, { shard, registered, urls });
  else if (!(await hasTable(first, database, 'events'))) throw hasNoEvents(first, database);
  await setUrls(postgres, shard, urls);
  say(`shard ${shard} is at ${urls.map(hostOf).join(' and ')}; processes use it within ${REGISTRY_EVERY_MS / 1000} s`);
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((url) => other.includes(url));

const hasNoEvents = (url: string, database: string): Error =>
  new Error(`${hostOf(url)} has no table "events" in the database ${database}`);

/** Throws unless the addresses, and no other shard, have the data of the shard. */
async function requireData(
  { config, postgres }: Pick<ShardsDeps, 'config' | 'postgres'>,
  { shard, registered, urls }: { shard: number; registered: readonly RegisteredShard[]; urls: readonly string[] },
): Promise<void> {
  const database = config.CLICKHOUSE_DATABASE;
  const before = requireRegistered(registered, shard).urls;
  const withTable = await Promise.all(urls.map((url) => hasTable(url, database, 'events')));
  const present = urls.filter((_, index) => withTable[index]);
  if (present.length === 0) throw hasNoEvents(urls[0] ?? '', database);
  const others = registered.filter(({ id }) => id !== shard);
  await requireNewServers(
    database,
    others.flatMap((other) => urlsOf(config, other)),
    present,
  );
  const isSame = await leadToSame(database, before, present);
  const busiest = isSame ? undefined : await findBusiest(postgres, shard);
  if (busiest !== undefined) await requireEvents(present, database, busiest);
  await requireNewServers(database, [], urls);
  // An empty server beside these becomes a replica, with their tables.
  await requireMigrated({ id: shard, urls }, database, 'the address is not changed');
}

/**
 * Throws when a host answers at an old address, and none of the new ones leads to it: both would
 * have rows of the same projects. Resolves with whether any has answered.
 */
async function leadToSame(database: string, before: readonly string[], urls: readonly string[]): Promise<boolean> {
  let hasAnswered = false;
  for (const old of before) {
    const found = await findSameServer(database, old, urls).then(
      (same) => ({ same }),
      () => undefined,
    );
    if (found === undefined) continue;
    hasAnswered = true;
    if (found.same === undefined) {
      throw new Error(
        `${hostOf(old)} still answers and is another server; stop it to use a copy of its data, ` +
          'or move its projects by "npm run shards -- move"',
      );
    }
  }
  return hasAnswered;
}

async function requireEvents(
  urls: readonly string[],
  database: string,
  { projectId, events }: { readonly projectId: ProjectId; readonly events: number },
): Promise<void> {
  for (const url of urls) {
    const query = 'SELECT 1 FROM events WHERE project_id = {projectId:UUID} LIMIT 1';
    const rows = await withClient(url, database, (clickhouse) => rowsOf(clickhouse, query, { projectId }));
    if (rows.length === 0) {
      throw new Error(
        `${hostOf(url)} has no event of the project ${projectId}, which has sent ${events} in seven days`,
      );
    }
  }
}
