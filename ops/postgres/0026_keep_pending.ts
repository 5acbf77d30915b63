// Counts of a run of keeping that has not deleted its events yet, apart from those of deleted ones:
// a later run tells from them what a run has deleted that failed.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw("ALTER TABLE keep_receipts ADD COLUMN pending json NOT NULL DEFAULT '[]'");
  await knex.raw("UPDATE keep_receipts SET pending = deleted, deleted = '[]' WHERE deleted_at IS NULL");
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('UPDATE keep_receipts SET deleted = pending WHERE deleted_at IS NULL');
  await knex.raw('ALTER TABLE keep_receipts DROP COLUMN pending');
}
