// Since when Redis has counted the usage of a day, in epoch milliseconds, and the totals until then:
// a Redis that has lost its data begins at zero.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`ALTER TABLE usage_days
    ADD COLUMN counted_since bigint,
    ADD COLUMN events_before bigint NOT NULL DEFAULT 0,
    ADD COLUMN queries_before bigint NOT NULL DEFAULT 0`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`ALTER TABLE usage_days
    DROP COLUMN counted_since, DROP COLUMN events_before, DROP COLUMN queries_before`);
}
