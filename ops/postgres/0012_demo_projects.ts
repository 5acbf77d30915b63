// Marks the projects that hold generated data: `npm run demo` finds and deletes only these.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('projects', (table) => table.boolean('is_demo').notNullable().defaultTo(false));
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('projects', (table) => table.dropColumn('is_demo'));
}
