// Tables of profiles, device mappings, and the outbox of the ClickHouse projection. Every change
// has a sequence number (src/identity/sequence.ts), and the result equals applying all changes in
// the order of these numbers.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Taken while the profile is locked: of two versions of a profile, the larger is the later state.
  await knex.raw('CREATE SEQUENCE identity_version');

  await knex.schema.createTable('profiles', (table) => {
    table.uuid('project_id').notNullable();
    table.text('user_id').notNullable();
    // The current state: the checkpoint with the operations after it applied.
    table.jsonb('properties').notNullable();
    table.text('email');
    table.text('email_domain');
    table.timestamp('first_seen', { useTz: true }).notNullable();
    table.timestamp('last_seen', { useTz: true }).notNullable();
    table.bigInteger('version').notNullable();
    // The state after all operations up to checkpoint_seq; null when that is the current state.
    table.jsonb('checkpoint');
    table.bigInteger('checkpoint_seq').notNullable();
    table.primary(['project_id', 'user_id']);
  });

  // Operations after the checkpoint, kept while one with a smaller number may still arrive.
  await knex.schema.createTable('profile_operations', (table) => {
    table.uuid('project_id').notNullable();
    table.text('user_id').notNullable();
    table.bigInteger('seq').notNullable();
    table.jsonb('operation').notNullable();
    table.primary(['project_id', 'user_id', 'seq']);
  });

  // The row with the largest number is the device's mapping. Older ones are kept while an erasure
  // may need the mapping as of its own number.
  await knex.schema.createTable('device_mappings', (table) => {
    table.uuid('project_id').notNullable();
    table.text('device_id').notNullable();
    table.bigInteger('seq').notNullable();
    table.text('user_id').notNullable();
    table.primary(['project_id', 'device_id', 'seq']);
    table.index(['project_id', 'user_id']);
  });

  await knex.schema.createTable('identity_outbox', (table) => {
    table.bigIncrements('id');
    table.uuid('project_id').notNullable();
    table.text('kind').notNullable().checkIn(['profile', 'mapping']);
    // The user id of a profile, or the device id of a mapping.
    table.text('key').notNullable();
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
  });
}

export async function down(knex: Knex): Promise<void> {
  for (const table of ['identity_outbox', 'device_mappings', 'profile_operations', 'profiles']) {
    await knex.schema.dropTable(table);
  }
  await knex.raw('DROP SEQUENCE identity_version');
}
