// Adds the creator of an organization, for quotas and rate limits per person.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('organizations', (table) => {
    table.uuid('created_by').references('people.id').onDelete('SET NULL').index();
  });
  // The first member joined in the transaction that created it, so both times are the same.
  await knex.raw(
    `UPDATE organizations SET created_by = members.person_id FROM members
     WHERE members.organization_id = organizations.id AND members.joined_at = organizations.created_at`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('organizations', (table) => table.dropColumn('created_by'));
}
