// Hosts of shards that do not answer, or are behind the other hosts of theirs: what must reach
// every host of a project asks them first, so that it fails at once and by name.
import { askClickHouse } from './client.js';
import { isReplicaBehind } from './failures.js';
import type { Shard } from './shards.js';

export interface SilentHost {
  readonly shard: number;
  /** Host and port. */
  readonly host: string;
  /** Whether it answers that it does not have all data of the other hosts yet. */
  readonly isBehind: boolean;
}

/** Its message names the hosts, and contains nothing of the data. */
export class SilentHostsError extends Error {
  override readonly name = 'SilentHostsError';
  readonly hosts: readonly SilentHost[];

  constructor(hosts: readonly SilentHost[]) {
    const behind = hosts.filter(({ isBehind }) => isBehind);
    const silent = hosts.filter(({ isBehind }) => !isBehind);
    const parts = [
      silent.length > 0 && `${describeHosts(silent)} ${silent.length === 1 ? 'does' : 'do'} not answer`,
      behind.length > 0 && `${describeHosts(behind)} ${behind.length === 1 ? 'is' : 'are'} behind the other hosts`,
    ];
    super(parts.filter(Boolean).join(', '));
    this.hosts = hosts;
  }
}

/** Resolves within three seconds. */
export async function findSilentHosts(shards: readonly Shard[]): Promise<readonly SilentHost[]> {
  const asked = shards.flatMap(({ id, hosts }) => hosts.map((host) => ({ id, ...host })));
  const found = await Promise.all(
    asked.map(async ({ id, name, clickhouse }) =>
      askClickHouse(clickhouse).then(
        () => [],
        (error: unknown) => [{ shard: id, host: name, isBehind: isReplicaBehind(error) }],
      ),
    ),
  );
  return found.flat();
}

/** Throws a SilentHostsError unless every host answers. */
export async function requireAnswers(shards: readonly Shard[]): Promise<void> {
  const silent = await findSilentHosts(shards);
  if (silent.length > 0) throw new SilentHostsError(silent);
}

export const describeHosts = (hosts: readonly Pick<SilentHost, 'shard' | 'host'>[]): string =>
  hosts.map(({ shard, host }) => `shard ${shard} at ${host}`).join(' and ');
