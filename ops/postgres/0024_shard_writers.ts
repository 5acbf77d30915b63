// Writers of shards that have several hosts. `shards.cluster` is the name by which the hosts behind
// one address know each other. A row of `shard_writers` is the lock of one ingest partition: it is
// free without an owner; `is_settled` says that no insert of its epoch can be running; `host` is
// the number of the host that takes its inserts.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE shards ADD COLUMN cluster text;
    CREATE TABLE shard_writers (
      shard int REFERENCES shards,
      lock text,
      epoch bigint NOT NULL DEFAULT 0,
      owner uuid,
      expires_at timestamptz NOT NULL DEFAULT now(),
      is_settled boolean NOT NULL DEFAULT true,
      host int NOT NULL DEFAULT 0,
      PRIMARY KEY (shard, lock)
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE shard_writers; ALTER TABLE shards DROP COLUMN cluster');
}
