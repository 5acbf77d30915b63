// Adds the time when the data of a deleted project was deleted, and tombstones for whole projects.
import type { Knex } from 'knex';

const KIND = 'erasure_watermarks_kind';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('projects', (table) => {
    table.timestamp('data_deleted_at', { useTz: true });
  });
  await dropKindCheck(knex);
  await knex.raw(`ALTER TABLE erasure_watermarks ADD CONSTRAINT ${KIND} CHECK (kind IN ('user', 'device', 'project'))`);
}

/** The constraint was created without an explicit name. */
async function dropKindCheck(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: { conname: string }[] }>(
    `SELECT conname FROM pg_constraint
     WHERE conrelid = 'erasure_watermarks'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%kind%'`,
  );
  for (const { conname } of rows) await knex.raw('ALTER TABLE erasure_watermarks DROP CONSTRAINT ??', [conname]);
}

export async function down(knex: Knex): Promise<void> {
  await knex('erasure_watermarks').where({ kind: 'project' }).delete();
  await dropKindCheck(knex);
  await knex.raw(`ALTER TABLE erasure_watermarks ADD CONSTRAINT ${KIND} CHECK (kind IN ('user', 'device'))`);
  await knex.schema.alterTable('projects', (table) => table.dropColumn('data_deleted_at'));
}
