// Renames tables and columns of tombstones: erased_through is the time up to which the data of a
// person, device or project is erased.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('erasure_requests', (table) => {
    table.renameColumn('cut_ms', 'erased_through_ms');
    table.renameColumn('cut_seq', 'erased_through_seq');
  });
  await knex.schema.alterTable('erasure_watermarks', (table) => table.renameColumn('cut_ms', 'erased_through_ms'));
  await knex.schema.renameTable('erasure_watermarks', 'erasure_tombstones');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.renameTable('erasure_tombstones', 'erasure_watermarks');
  await knex.schema.alterTable('erasure_watermarks', (table) => table.renameColumn('erased_through_ms', 'cut_ms'));
  await knex.schema.alterTable('erasure_requests', (table) => {
    table.renameColumn('erased_through_ms', 'cut_ms');
    table.renameColumn('erased_through_seq', 'cut_seq');
  });
}
