// When each property of a profile changed, in microseconds (src/identity/timed-properties.ts): an
// imported value counts only where nothing newer is known.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('profiles', (table) => table.jsonb('times').notNullable().defaultTo('{}'));
  // The planner's statistics contain keys, and outlive their rows.
  await knex.raw('ALTER TABLE profiles ALTER COLUMN times SET STATISTICS 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('profiles', (table) => table.dropColumn('times'));
}
