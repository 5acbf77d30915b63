// Tables of dashboards and their versions. A key names one dashboard of a project, and one of each
// person.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('dashboards', (table) => {
    table.uuid('id').primary();
    table.uuid('project_id').notNullable().references('projects.id').onDelete('CASCADE');
    table.text('key').notNullable();
    table.text('visibility').notNullable().checkIn(['personal', 'project']);
    table.uuid('owner_id').references('people.id').onDelete('SET NULL');
    table.integer('version').notNullable();
    // Copied from the newest version, so that a list reads no configurations.
    table.text('title').notNullable();
    table.bigInteger('position');
    table.text('checksum').notNullable();
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
    table.timestamp('updated_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
  });
  await knex.raw(`CREATE UNIQUE INDEX dashboards_project ON dashboards (project_id, key) WHERE visibility = 'project'`);
  await knex.raw(
    `CREATE UNIQUE INDEX dashboards_personal ON dashboards (project_id, owner_id, key) WHERE visibility = 'personal'`,
  );
  await knex.schema.createTable('dashboard_versions', (table) => {
    table.uuid('dashboard_id').notNullable().references('dashboards.id').onDelete('CASCADE');
    table.integer('version').notNullable();
    table.text('checksum').notNullable();
    // Not jsonb, which loses the order of keys: variables are shown in it.
    table.json('config').notNullable();
    table.text('source_yaml').notNullable();
    table.timestamp('created_at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
    table.primary(['dashboard_id', 'version']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('dashboard_versions');
  await knex.schema.dropTable('dashboards');
}
