// Definitions of projects, and their versions: one document per project.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('definitions', (table) => {
    table.uuid('project_id').primary().references('projects.id').onDelete('CASCADE');
    table.integer('version').notNullable();
    table.text('checksum').notNullable();
  });
  await knex.schema.createTable('definition_versions', (table) => {
    table.uuid('project_id').notNullable().references('definitions.project_id').onDelete('CASCADE');
    table.integer('version').notNullable();
    table.text('checksum').notNullable();
    // Not jsonb, which loses the order of keys.
    table.json('content').notNullable();
    table.text('source_yaml').notNullable();
    // Whether a key or a token stored it, not a person in the console.
    table.boolean('is_synced').notNullable();
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
    table.primary(['project_id', 'version']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('definition_versions');
  await knex.schema.dropTable('definitions');
}
