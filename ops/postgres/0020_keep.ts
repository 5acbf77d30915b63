// How long a project keeps its events, of the current version of its definitions, and the receipts
// of what the nightly job has deleted.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE definitions ADD COLUMN keep json;
    ALTER TABLE definitions ADD COLUMN keep_since timestamptz;
    CREATE TABLE keep_receipts (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      day date NOT NULL,
      edges json NOT NULL,
      deleted json NOT NULL,
      deleted_at timestamptz,
      purged_at timestamptz,
      PRIMARY KEY (project_id, day)
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE keep_receipts');
  await knex.raw('ALTER TABLE definitions DROP COLUMN keep, DROP COLUMN keep_since');
}
