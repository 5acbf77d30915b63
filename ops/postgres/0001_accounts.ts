// Tables of organizations, projects and keys.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('organizations', (table) => {
    table.uuid('id').primary();
    table.text('name').notNullable();
    table.text('slug').notNullable().unique();
    table.binary('admin_key_digest').notNullable().unique();
    table.text('admin_key_prefix').notNullable();
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
  });
  await knex.schema.createTable('projects', (table) => {
    table.uuid('id').primary();
    table.uuid('organization_id').notNullable().references('organizations.id');
    table.text('name').notNullable();
    table.text('public_key').notNullable().unique();
    table.binary('secret_key_digest').notNullable().unique();
    table.text('secret_key_prefix').notNullable();
    table.binary('secret_key_encrypted').notNullable();
    table.text('ip_policy').notNullable().defaultTo('anonymize').checkIn(['anonymize', 'full', 'drop']);
    table.text('timezone').notNullable().defaultTo('UTC');
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
    table.timestamp('deleted_at', { useTz: true });
    table.index('organization_id');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('projects');
  await knex.schema.dropTable('organizations');
}
