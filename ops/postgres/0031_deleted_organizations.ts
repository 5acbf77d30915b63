// When an organization was deleted. Its row stays for the audit trail of its projects. The column is
// not named `deleted_at`: earlier versions join organizations and projects and read that column
// without a table name, so their queries would fail while an update is running.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE organizations ADD COLUMN removed_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE organizations DROP COLUMN removed_at');
}
