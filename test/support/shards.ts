// Shards of a test: the registry of its databases, with clients that it closes.
import { Shards } from '../../src/platform/clickhouse/shards.js';
import type { Config } from '../../src/platform/config.js';
import { createPostgres } from '../../src/platform/postgres/client.js';

/** `close` also ends its connections to PostgreSQL. */
export function openShards(config: Config): Shards {
  const postgres = createPostgres(config);
  const shards = new Shards(config, { postgres });
  const closeClients = shards.close.bind(shards);
  shards.close = async () => {
    await closeClients();
    await postgres.destroy();
  };
  return shards;
}
