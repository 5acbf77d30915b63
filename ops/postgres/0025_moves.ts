// Number of the last move of a project, so that a command that has lost its lock can do nothing to
// a later move; and from when on the shards where the project does not live are cleared of its
// rows. Null when they have none.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE project_placements
      ADD COLUMN move int NOT NULL DEFAULT 0,
      ADD COLUMN clear_after timestamptz`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE project_placements DROP COLUMN move, DROP COLUMN clear_after');
}
