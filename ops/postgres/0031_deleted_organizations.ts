// When an organization was deleted: not `deleted_at`, which queries of earlier versions read without
// a table beside that of projects. Its row stays for the audit trail of its projects.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE organizations ADD COLUMN removed_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE organizations DROP COLUMN removed_at');
}
