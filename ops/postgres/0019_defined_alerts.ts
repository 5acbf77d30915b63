// Alerts and reports of a project's definitions: they belong to no dashboard, and a report names
// the one that it sends by its key.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE alerts
      ALTER COLUMN dashboard_id DROP NOT NULL,
      ADD COLUMN dashboard_key text`);
  await knex.raw('CREATE UNIQUE INDEX alerts_defined ON alerts (project_id, kind, key) WHERE dashboard_id IS NULL');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DELETE FROM alerts WHERE dashboard_id IS NULL');
  await knex.raw('DROP INDEX alerts_defined');
  await knex.raw('ALTER TABLE alerts DROP COLUMN dashboard_key');
  await knex.raw('ALTER TABLE alerts ALTER COLUMN dashboard_id SET NOT NULL');
}
