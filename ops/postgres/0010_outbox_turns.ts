// Index of the outbox by project, so that the projection can read projects round-robin.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('identity_outbox', (table) => table.index(['project_id', 'id']));
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('identity_outbox', (table) => table.dropIndex(['project_id', 'id']));
}
