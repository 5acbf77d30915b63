// ClickHouse servers (shards), where each project lives, and where its data has ever been. A
// project without a placement lives on shard 1, whose address is CLICKHOUSE_URL. `state` is `home`,
// or `moving` while the project is copied to another shard.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE shards (
      id int PRIMARY KEY,
      urls text[] NOT NULL,
      accepts_new boolean NOT NULL DEFAULT true
    );
    INSERT INTO shards (id, urls) VALUES (1, '{}');
    CREATE TABLE project_placements (
      project_id uuid PRIMARY KEY,
      shard int NOT NULL REFERENCES shards,
      epoch int NOT NULL DEFAULT 1,
      state text NOT NULL DEFAULT 'home' CHECK (state IN ('home', 'moving'))
    );
    CREATE INDEX project_placements_shard ON project_placements (shard);
    CREATE TABLE project_traces (
      project_id uuid,
      shard int REFERENCES shards,
      PRIMARY KEY (project_id, shard)
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE project_traces, project_placements, shards');
}
