// Rules about which events a project lets in, of the current version of its definitions. Null when
// it lets all in; the lookup of a key reads them.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE definitions ADD COLUMN rules json');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE definitions DROP COLUMN rules');
}
