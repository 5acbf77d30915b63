// Mailboxes that want no messages of a project's alerts.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE alert_unsubscribes (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      address text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, address)
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('alert_unsubscribes');
}
