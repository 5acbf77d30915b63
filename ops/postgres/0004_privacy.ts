// Audit trail, erasure requests, and tombstones of erased people.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('audit_entries', (table) => {
    table.uuid('id').primary();
    table.uuid('project_id').notNullable();
    table.uuid('organization_id').notNullable();
    table.jsonb('actor').notNullable();
    table.text('action').notNullable();
    // The user id of the person concerned; after an erasure, its keyed hash instead.
    table.text('subject');
    table.text('subject_hash');
    table.text('outcome').notNullable();
    table.jsonb('details').notNullable().defaultTo('{}');
    table.timestamp('at', { useTz: true }).notNullable().defaultTo(knex.fn.now());
    table.index(['project_id', 'at', 'id']);
  });
  await knex.raw(APPEND_ONLY);

  await knex.schema.createTable('erasure_requests', (table) => {
    table.uuid('id').primary();
    table.uuid('project_id').notNullable();
    table.uuid('organization_id').notNullable();
    // Both are deleted when the data files are rewritten; until then they are needed to delete the
    // rows again.
    table.text('user_id');
    table.specificType('device_ids', 'text[]');
    table.text('user_hash').notNullable();
    // The version up to which projections of the profile belong to the erased person; null until it
    // has been deleted here.
    table.bigInteger('profile_version');
    // Events received up to this time, in milliseconds, and identify calls up to this sequence
    // number are erased.
    table.bigInteger('cut_ms').notNullable();
    table.bigInteger('cut_seq').notNullable();
    table.text('status').notNullable().checkIn(['requested', 'deleted', 'purged']);
    table.jsonb('requested_by').notNullable();
    table.jsonb('counts').notNullable().defaultTo('{}');
    table.timestamp('requested_at', { useTz: true }).notNullable();
    table.timestamp('verified_at', { useTz: true });
    table.timestamp('purge_by', { useTz: true }).notNullable();
    table.timestamp('purged_at', { useTz: true });
    table.index('project_id');
  });
  await knex.raw("CREATE INDEX erasure_requests_unfinished ON erasure_requests (status) WHERE status <> 'purged'");

  // Hashed ids only: the source from which Redis is restored.
  await knex.schema.createTable('erasure_watermarks', (table) => {
    table.uuid('project_id').notNullable();
    table.text('kind').notNullable().checkIn(['user', 'device']);
    table.text('id_hash').notNullable();
    table.bigInteger('cut_ms').notNullable();
    table.primary(['project_id', 'kind', 'id_hash']);
  });

  // The planner's statistics contain values, and outlive their rows.
  for (const [table, columns] of Object.entries(PERSONAL_COLUMNS)) {
    for (const column of columns) await knex.raw('ALTER TABLE ?? ALTER COLUMN ?? SET STATISTICS 0', [table, column]);
  }
}

const PERSONAL_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  profiles: ['user_id', 'properties', 'email', 'email_domain', 'checkpoint'],
  profile_operations: ['user_id', 'operation'],
  device_mappings: ['device_id', 'user_id'],
  identity_outbox: ['key'],
  audit_entries: ['subject'],
  erasure_requests: ['user_id', 'device_ids'],
};

/** Allows only one change of an entry: replacing its subject by a hash. */
const APPEND_ONLY = `
  CREATE FUNCTION refuse_to_rewrite_audit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      IF OLD.subject IS NOT NULL AND NEW.subject IS NULL AND OLD.subject_hash IS NULL AND NEW.subject_hash IS NOT NULL
        AND (NEW.id, NEW.project_id, NEW.organization_id, NEW.actor, NEW.action, NEW.outcome, NEW.details, NEW.at)
          = (OLD.id, OLD.project_id, OLD.organization_id, OLD.actor, OLD.action, OLD.outcome, OLD.details, OLD.at)
      THEN
        RETURN NEW;
      END IF;
    END IF;
    RAISE EXCEPTION 'the audit trail can only be added to';
  END $$;
  CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_to_rewrite_audit();
  CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_audit();
`;

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('erasure_watermarks');
  await knex.schema.dropTable('erasure_requests');
  await knex.schema.dropTable('audit_entries');
  await knex.raw('DROP FUNCTION refuse_to_rewrite_audit()');
}
