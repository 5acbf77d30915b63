// Shards that were removed. Their rows stay, because no later shard may have their number, and
// because placements of deleted projects name them.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE shards ADD COLUMN removed_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE shards DROP COLUMN removed_at');
}
