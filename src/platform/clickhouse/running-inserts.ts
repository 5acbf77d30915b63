// Which inserts run on the hosts of a shard that has several. A query id is unique on one host
// only, so every host is asked, and an answer that leaves one out is none.
import { type ClickHouseClient, targetOf } from './client.js';

export interface RunningInserts {
  /**
   * Queries whose id is this one or begins with it and an epoch, that run for at least so long.
   * Rejects while any host cannot be asked.
   */
  count(queryId: string, sinceSeconds: number): Promise<number>;
}

/**
 * Two answers take less than a lease (shard-writer.ts): a lock is not taken over by a writer whose
 * lease ends while it waits for a host that hangs, or whose machine is off.
 */
const ANSWER_TIMEOUT_MS = 3_000;

const CLUSTER_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export const isClusterName = (text: string): boolean => CLUSTER_NAME.test(text);

/** It is written into statements. */
function requireClusterName(text: string): string {
  if (!isClusterName(text)) throw new Error(`"${text}" is not the name of a cluster`);
  return text;
}

const statement = (processes: string): string =>
  `SELECT toUInt32(count()) AS n FROM ${processes}
   WHERE (query_id = {queryId:String} OR startsWith(query_id, {prefix:String})) AND elapsed >= {since:Float64}`;

async function ask(clickhouse: ClickHouseClient, processes: string, [queryId, since]: [string, number]) {
  const answer = await clickhouse.query({
    query: statement(processes),
    query_params: { queryId, prefix: epochPrefix(queryId), since },
    // The default of a service may be to leave out hosts that do not answer.
    clickhouse_settings: { skip_unavailable_shards: 0 },
    abort_signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ n: number }>();
  if (row === undefined) throw new Error('the running inserts were not counted');
  return row.n;
}

/** Prefix of the query ids of all inserts of a lock; the epoch follows. */
export const epochPrefix = (lock: string): string => `${lock}-e`;

/** Hosts behind one address, which form a cluster of this name. */
export const runningInCluster = (clickhouse: ClickHouseClient, cluster: string): RunningInserts => ({
  count: (...what) => ask(clickhouse, `clusterAllReplicas('${requireClusterName(cluster)}', system.processes)`, what),
});

/**
 * Hosts with an address each. One that does not answer is left out only when Keeper has ended its
 * session, as the others know: then it cannot commit an insert any more.
 */
export const runningOnReplicas = (hosts: readonly ClickHouseClient[]): RunningInserts => ({
  async count(...what) {
    const answers = await Promise.allSettled(hosts.map((host) => ask(host, 'system.processes', what)));
    const answering = hosts.filter((_, index) => answers[index]?.status === 'fulfilled');
    const silent = hosts.filter((host) => !answering.includes(host));
    if (silent.length > 0) await requireInactive(silent, answering);
    return answers.reduce((sum, answer) => sum + (answer.status === 'fulfilled' ? answer.value : 0), 0);
  },
});

/** That Keeper counts no more replicas as active than answer. */
async function requireInactive(
  silent: readonly ClickHouseClient[],
  answering: readonly ClickHouseClient[],
): Promise<void> {
  const names = silent.map(nameOf).join(' and ');
  if (answering.length === 0) throw new Error(`no host of the shard answers: ${names}`);
  for (const host of answering) {
    const answer = await host.query({
      query: `SELECT toUInt32(max(active_replicas)) AS active FROM system.replicas
              WHERE database = currentDatabase() AND table = 'events'`,
      abort_signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      format: 'JSONEachRow',
    });
    const active = (await answer.json<{ active: number }>())[0]?.active ?? Number.POSITIVE_INFINITY;
    if (active === 0 || active > answering.length) {
      throw new Error(`${names} gave no answer, but may still commit inserts`);
    }
  }
}

/** Host and port. */
function nameOf(host: ClickHouseClient): string {
  const target = targetOf(host);
  return target === undefined ? 'a host' : new URL(target.CLICKHOUSE_URL).host;
}

const WATCHED = new WeakMap<ClickHouseClient, RunningInserts>();

/** The hosts behind the client are asked by `waitForQuery`. */
export const watchHosts = (clickhouse: ClickHouseClient, running: RunningInserts): void =>
  void WATCHED.set(clickhouse, running);

export const watchOf = (clickhouse: ClickHouseClient): RunningInserts | undefined => WATCHED.get(clickhouse);
