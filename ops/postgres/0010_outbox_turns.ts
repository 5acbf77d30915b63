// Projects take turns when the outbox is copied: what each has is found without reading what the others have.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('identity_outbox', (table) => table.index(['project_id', 'id']));
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('identity_outbox', (table) => table.dropIndex(['project_id', 'id']));
}
