// Tables of people and their access: sessions, members, invitations, verified domains, access
// tokens; and usage by day.
import type { Knex } from 'knex';

const ROLES = ['owner', 'admin', 'member'];

export async function up(knex: Knex): Promise<void> {
  const created = (table: Knex.CreateTableBuilder, column = 'created_at') =>
    table.timestamp(column, { useTz: true }).notNullable().defaultTo(knex.fn.now());
  const moment = (table: Knex.CreateTableBuilder, column: string) => table.timestamp(column, { useTz: true });

  await knex.schema.alterTable('organizations', (table) => {
    // The organization that the standalone stack created: everyone who signs in with its local
    // provider joins it.
    table.boolean('is_standalone').notNullable().defaultTo(false);
  });
  await knex.schema.createTable('people', (table) => {
    table.uuid('id').primary();
    table.text('email');
    table.boolean('email_verified').notNullable().defaultTo(false);
    table.text('name');
    table.text('provider').notNullable();
    table.text('subject').notNullable();
    created(table);
    table.unique(['provider', 'subject']);
  });
  await knex.schema.createTable('sessions', (table) => {
    table.binary('id_digest').primary();
    table.uuid('person_id').notNullable().references('people.id').onDelete('CASCADE').index();
    created(table);
    created(table, 'last_seen_at');
    moment(table, 'expires_at').notNullable().index();
  });
  await knex.schema.createTable('members', (table) => {
    table.uuid('organization_id').notNullable().references('organizations.id').onDelete('CASCADE');
    table.uuid('person_id').notNullable().references('people.id').onDelete('CASCADE').index();
    table.text('role').notNullable().checkIn(ROLES);
    created(table, 'joined_at');
    table.primary(['organization_id', 'person_id']);
  });
  await knex.schema.createTable('invitations', (table) => {
    table.uuid('id').primary();
    table.uuid('organization_id').notNullable().references('organizations.id').onDelete('CASCADE').index();
    table.text('email').notNullable();
    table.text('role').notNullable().checkIn(['admin', 'member']);
    table.binary('token_digest').notNullable().unique();
    table.uuid('invited_by').notNullable().references('people.id').onDelete('CASCADE');
    created(table);
    moment(table, 'expires_at').notNullable();
    moment(table, 'accepted_at');
  });
  await knex.schema.createTable('domains', (table) => {
    table.uuid('id').primary();
    table.uuid('organization_id').notNullable().references('organizations.id').onDelete('CASCADE');
    table.text('domain').notNullable();
    table.text('token').notNullable();
    created(table);
    moment(table, 'verified_at');
    table.unique(['organization_id', 'domain']);
  });
  // Anyone may claim a domain; only one organization can verify it.
  await knex.raw('CREATE UNIQUE INDEX domains_verified ON domains (domain) WHERE verified_at IS NOT NULL');
  await knex.schema.createTable('access_tokens', (table) => {
    table.uuid('id').primary();
    table.uuid('project_id').notNullable().references('projects.id').onDelete('CASCADE').index();
    table.text('name').notNullable();
    table.text('kind').notNullable().checkIn(['personal', 'service']);
    table.specificType('scopes', 'text[]').notNullable();
    table.binary('digest').notNullable().unique();
    table.text('prefix').notNullable();
    table.uuid('created_by').references('people.id').onDelete('SET NULL').index();
    created(table);
    moment(table, 'expires_at').notNullable();
    moment(table, 'last_used_at');
    moment(table, 'revoked_at');
  });
  await knex.schema.createTable('usage_days', (table) => {
    table.uuid('project_id').notNullable();
    table.date('day').notNullable();
    table.bigInteger('events_ingested').notNullable().defaultTo(0);
    table.bigInteger('events_stored').notNullable().defaultTo(0);
    table.bigInteger('queries_run').notNullable().defaultTo(0);
    table.primary(['project_id', 'day']);
  });
}

export async function down(knex: Knex): Promise<void> {
  for (const table of ['usage_days', 'access_tokens', 'domains', 'invitations', 'members', 'sessions', 'people']) {
    await knex.schema.dropTable(table);
  }
  await knex.schema.alterTable('organizations', (table) => table.dropColumn('is_standalone'));
}
