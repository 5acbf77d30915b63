// Catalog of a project: the event types, property keys and frequent values that it has sent. Names
// are found by the worker of ingestion, and all of them again by a rebuild from the stored events.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE catalog_projects (
      project_id uuid PRIMARY KEY,
      -- Increased when the stored names may have become untrue; the next rebuild is of this one.
      generation integer NOT NULL DEFAULT 0,
      rebuilt_generation integer,
      rebuild_after timestamptz NOT NULL DEFAULT now(),
      -- Increased by every change, so that readers keep what they have read.
      version bigint NOT NULL DEFAULT 0
    )`);
  await knex.raw(`
    CREATE TABLE catalog_names (
      project_id uuid NOT NULL,
      -- event: an event type; key: a property and the type of its values; value: a field and one
      -- of its values; many: a field with more values than are kept.
      kind text COLLATE "C" NOT NULL,
      field text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      events bigint NOT NULL,
      -- The generation in which the name was seen.
      generation integer NOT NULL,
      PRIMARY KEY (project_id, kind, field, name)
    )`);
  // The planner's statistics contain values, and outlive their rows.
  await knex.raw('ALTER TABLE catalog_names ALTER COLUMN field SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('catalog_names');
  await knex.schema.dropTable('catalog_projects');
}
