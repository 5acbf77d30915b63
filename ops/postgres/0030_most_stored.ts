// The most events of a day that were found stored. Erasure lowers `events_stored`, and not this: it
// is what was accepted at least, where Redis has lost counts.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE usage_days ADD COLUMN events_stored_max bigint NOT NULL DEFAULT 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE usage_days DROP COLUMN events_stored_max');
}
