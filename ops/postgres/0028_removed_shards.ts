// When a shard was removed. Its row stays, because no later shard may have its number.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE shards ADD COLUMN removed_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE shards DROP COLUMN removed_at');
}
