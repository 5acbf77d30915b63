// Deletes the alerts and reports that definitions of deleted projects had: the deletion of a project
// left them.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM alerts USING projects
    WHERE projects.id = alerts.project_id AND projects.deleted_at IS NOT NULL`);
}

export async function down(): Promise<void> {}
