// Registry of shards: ClickHouse servers, or groups of replicas, with the clients of this process.
// Shard 1 is CLICKHOUSE_URL; the others are rows in PostgreSQL, which are read again every few
// seconds. With one shard, no project is looked up. Where a project lives is asked for each use
// (homeOf), so that a move counts for the next one.
import type { Config } from '../config.js';
import { withTimeout } from '../flow/with-timeout.js';
import type { ProjectId } from '../ids.js';
import type { Logger } from '../log.js';
import type { Postgres } from '../postgres/client.js';
import {
  askClickHouse,
  type ClickHouseClient,
  type ClickHouseOptions,
  type ClickHouseSettings,
  createClickHouse,
  type StatementSettings,
} from './client.js';
import { type Replica, ReplicaReader } from './replica-reader.js';
import { runningInCluster, runningOnReplicas, watchHosts } from './running-inserts.js';
import { ShardWriter } from './shard-writer.js';

export const FIRST_SHARD = 1;
/** A process reads the registry this often while it runs. */
export const REGISTRY_EVERY_MS = 5_000;

export interface Shard {
  readonly id: number;
  /** Client of the host that takes every insert, and answers queries. */
  readonly clickhouse: ClickHouseClient;
  /** Every host, the writing one first. */
  readonly hosts: readonly ShardHost[];
  /** Where several hosts take inserts; otherwise the query id is the lock. */
  readonly writer?: ShardWriter;
}

export interface ShardHost {
  /** Host and port, for messages. */
  readonly name: string;
  readonly clickhouse: ClickHouseClient;
}

export interface Placement {
  readonly shard: number;
  /** Grows with each move. */
  readonly epoch: number;
  /** While it is copied to another shard, nothing of the project is inserted. */
  readonly isMoving: boolean;
}

export interface Home extends Placement {
  readonly at: Shard;
}

/** A PostgreSQL that accepts a query but never replies counts as unavailable. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Of a project that has no row. */
export const FIRST_PLACEMENT: Placement = { shard: FIRST_SHARD, epoch: 1, isMoving: false };

export interface ShardRow {
  readonly id: number;
  /** URLs with passwords, which messages must not show. */
  readonly urls: readonly string[];
  /** Cluster of the hosts behind one address; null when it leads to one host. */
  readonly cluster: string | null;
}

/**
 * What the statements of a shard with several hosts need, so that the lookup of duplicates, and
 * what verifies an erasure, see every row that was acknowledged, on any host. Keeper otherwise
 * drops a block that equals an earlier one, also when its rows were deleted since.
 */
const SEVERAL_HOSTS = { select_sequential_consistency: '1', insert_deduplicate: 0 } as const;

/**
 * Acknowledged by most replicas, one insert after the other: a replica that takes inserts after
 * another has all acknowledged rows, or answers with an error.
 */
export const REPLICAS = { ...SEVERAL_HOSTS, insert_quorum: 'auto', insert_quorum_parallel: 0 } as const;

const ONE_HOST: StatementSettings = {};

export function settingsOf({ urls, cluster }: Pick<ShardRow, 'urls' | 'cluster'>): StatementSettings {
  if (urls.length > 1) return REPLICAS;
  return cluster === null ? ONE_HOST : SEVERAL_HOSTS;
}

export class Shards {
  first: Shard;
  readonly #config: ClickHouseSettings;
  readonly #options: ClickHouseOptions;
  readonly #postgres: Postgres;
  readonly #known = new Map<number, Shard>();
  readonly #timer: NodeJS.Timeout | undefined;
  #isRead = false;
  /** What was opened; a shard is opened again when its row has other hosts. */
  readonly #addresses = new Map<number, string>();
  readonly #opened: ClickHouseClient[] = [];
  readonly #readers = new Map<number, ReplicaReader>();

  /** Without a log the registry is read only on demand. */
  constructor(
    config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE'>,
    { postgres, log, ...options }: ClickHouseOptions & { postgres: Postgres; log?: Logger },
  ) {
    this.#config = config;
    this.#options = options;
    this.#postgres = postgres;
    this.first = this.#open({ id: FIRST_SHARD, urls: [], cluster: null });
    if (log === undefined) return;
    const read = async () => {
      await this.read().catch((err: unknown) => log.warn({ err }, 'the shards could not be read'));
      await Promise.all([...this.#readers.values()].map((reader) => reader.choose()));
    };
    void read();
    this.#timer = setInterval(() => void read(), REGISTRY_EVERY_MS);
    this.#timer.unref();
  }

  /** As last read, by id. */
  get known(): readonly Shard[] {
    return [...this.#known.values()].sort((a, b) => a.id - b.id);
  }

  /** Whether there is more than one. Rejects when PostgreSQL has never answered. */
  async areSeveral(): Promise<boolean> {
    if (!this.#isRead) await this.read();
    return this.#known.size > 1;
  }

  /** Reads the registry. Rejects when PostgreSQL is unavailable. */
  async read(): Promise<readonly Shard[]> {
    const rows = await withTimeout(ANSWER_TIMEOUT_MS, Promise.resolve(listShards(this.#postgres)));
    for (const row of rows) {
      if (addressOf(row) === this.#addresses.get(row.id)) continue;
      const shard = this.#open(row);
      if (row.id === FIRST_SHARD) this.first = shard;
    }
    for (const id of this.#known.keys()) if (!rows.some((row) => row.id === id)) this.#forget(id);
    this.#isRead = true;
    return this.known;
  }

  /** Throws when there is no such shard. */
  async get(id: number): Promise<Shard> {
    if (!this.#known.has(id)) await this.read();
    const shard = this.#known.get(id);
    if (shard === undefined) throw new Error(`there is no shard ${id}`);
    return shard;
  }

  /** With the address that was read last. */
  current(shard: Shard): Shard {
    return this.#known.get(shard.id) ?? shard;
  }

  /** Rejects when PostgreSQL is unavailable and there are several shards. */
  async homeOf(projectId: ProjectId): Promise<Home> {
    if (!(await this.areSeveral())) return { ...FIRST_PLACEMENT, at: this.first };
    const placement = (await readPlacements(this.#postgres, [projectId])).get(projectId) ?? FIRST_PLACEMENT;
    return { ...placement, at: await this.get(placement.shard) };
  }

  /** Placements of the projects; those without a row are on the first shard. */
  async placementsOf(projectIds: readonly string[]): Promise<ReadonlyMap<string, Placement>> {
    const found = await readPlacements(this.#postgres, projectIds);
    return new Map(projectIds.map((id) => [id, found.get(id) ?? FIRST_PLACEMENT]));
  }

  /** Every shard that has or has ever had data of the project, its home first. */
  async tracesOf(projectId: ProjectId): Promise<readonly Shard[]> {
    const [placements, rows] = await Promise.all([
      this.placementsOf([projectId]),
      this.#postgres('project_traces').where({ project_id: projectId }).orderBy('shard').pluck('shard') as Promise<
        number[]
      >,
    ]);
    const home = placements.get(projectId)?.shard ?? FIRST_SHARD;
    return Promise.all([home, ...rows.filter((id) => id !== home)].map((id) => this.get(id)));
  }

  /** For queries: another replica while the first does not answer, or is behind. */
  readerOf({ id, clickhouse }: Shard): ClickHouseClient {
    return this.#readers.get(id)?.current ?? clickhouse;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#opened.map((clickhouse) => clickhouse.close()));
  }

  #openReplicas(row: ShardRow, hosts: readonly ShardHost[]): Replica[] {
    const settings = { ...settingsOf(row), select_sequential_consistency: '0' } as const;
    const urls = urlsOf(this.#config, row);
    return hosts.map(({ clickhouse }, index) => {
      const CLICKHOUSE_URL = urls[index] ?? this.#config.CLICKHOUSE_URL;
      const lagging = createClickHouse({ ...this.#config, CLICKHOUSE_URL }, { ...this.#options, settings });
      this.#opened.push(lagging);
      return { complete: clickhouse, lagging };
    });
  }

  #open(row: ShardRow): Shard {
    const { id, cluster } = row;
    const options = { ...this.#options, settings: settingsOf(row) };
    const hosts = urlsOf(this.#config, row).map((url) => ({
      name: new URL(url).host,
      clickhouse: createClickHouse({ ...this.#config, CLICKHOUSE_URL: url }, options),
    }));
    const clients = hosts.map((host) => host.clickhouse);
    const [clickhouse] = clients;
    if (clickhouse === undefined) throw new Error(`shard ${id} has no URL`);
    this.#addresses.set(id, addressOf(row));
    this.#opened.push(...clients);
    if (hosts.length > 1) this.#readers.set(id, new ReplicaReader(this.#openReplicas(row, hosts)));
    const shard: Shard = { id, hosts, clickhouse };
    if (cluster === null && hosts.length === 1) return this.#know(shard);
    const running = cluster === null ? runningOnReplicas(clients) : runningInCluster(clickhouse, cluster);
    for (const client of clients) watchHosts(client, running);
    const writer = new ShardWriter({ postgres: this.#postgres, shard: id, hosts: clients, running });
    return this.#know({ ...shard, writer });
  }

  #know(shard: Shard): Shard {
    this.#known.set(shard.id, shard);
    return shard;
  }

  /** Its clients stay open, because something may still use them. */
  #forget(id: number): void {
    this.#known.delete(id);
    this.#addresses.delete(id);
    this.#readers.delete(id);
  }
}

/**
 * Readiness: rejects when no shard answers, where queries go to. The projects of the others are
 * served while one is unavailable.
 */
export const askShards = (shards: Pick<Shards, 'known' | 'readerOf'>): Promise<unknown> => {
  const answers = shards.known.map((shard) => askClickHouse(shards.readerOf(shard)));
  return answers.length === 1 && answers[0] !== undefined ? answers[0] : Promise.any(answers);
};

export const listShards = (postgres: Postgres): PromiseLike<readonly ShardRow[]> =>
  postgres('shards').whereNull('removed_at').orderBy('id').select('id', 'urls', 'cluster');

const addressOf = ({ urls, cluster }: Pick<ShardRow, 'urls' | 'cluster'>): string => JSON.stringify([urls, cluster]);

/** The first shard is where the configuration says, unless its row names its hosts. */
export const urlsOf = (config: ClickHouseSettings, { id, urls }: Pick<ShardRow, 'id' | 'urls'>): readonly string[] =>
  id === FIRST_SHARD && urls.length === 0 ? [config.CLICKHOUSE_URL] : urls;

async function readPlacements(postgres: Postgres, projectIds: readonly string[]): Promise<Map<string, Placement>> {
  const found: PromiseLike<{ project_id: string; shard: number; epoch: number; state: string }[]> = postgres(
    'project_placements',
  )
    .whereIn('project_id', [...projectIds])
    .select('project_id', 'shard', 'epoch', 'state');
  const rows = await withTimeout(ANSWER_TIMEOUT_MS, Promise.resolve(found));
  return new Map(
    rows.map(({ project_id, shard, epoch, state }) => [project_id, { shard, epoch, isMoving: state === 'moving' }]),
  );
}
