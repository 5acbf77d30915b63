// When a dashboard was last written by a sync: those are changed in their repository, not in the
// console.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('dashboards', (table) => table.timestamp('synced_at', { useTz: true }));
  // Until now, a sync was the only way to write one.
  await knex('dashboards').update({ synced_at: knex.ref('updated_at') });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('dashboards', (table) => table.dropColumn('synced_at'));
}
