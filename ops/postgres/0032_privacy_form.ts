// Brings databases that were created on 21 November 2026 before 07:01 UTC to the form of all
// others: 0004_privacy was changed after they had applied it.
import type { Knex } from 'knex';

const PERSONAL_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  profiles: ['user_id', 'properties', 'email', 'email_domain', 'checkpoint'],
  profile_operations: ['user_id', 'operation'],
  device_mappings: ['device_id', 'user_id'],
  identity_outbox: ['key'],
  audit_entries: ['subject'],
  erasure_requests: ['user_id', 'device_ids'],
};

export async function up(knex: Knex): Promise<void> {
  // Without it no erasure ends.
  await knex.raw('ALTER TABLE erasure_requests ADD COLUMN IF NOT EXISTS profile_version bigint');
  for (const [table, names] of Object.entries(PERSONAL_COLUMNS)) {
    for (const { name, type } of await withStatistics(knex, table, names)) {
      // A change to the same type rewrites nothing, and deletes the statistics that there are.
      const form = `ALTER TABLE ?? ALTER COLUMN ?? TYPE ${type}, ALTER COLUMN ?? SET STATISTICS 0`;
      await knex.raw(form, [table, name, name]);
    }
  }
}

/** The columns of which the planner keeps values. */
async function withStatistics(knex: Knex, table: string, names: readonly string[]) {
  const { rows } = await knex.raw<{ rows: { name: string; type: string }[] }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = ?::regclass AND attname = ANY(?) AND COALESCE(attstattarget, -1) <> 0`,
    [table, [...names]],
  );
  return rows;
}

/** Nothing to undo: this is the form that 0004_privacy creates. */
export async function down(): Promise<void> {}
