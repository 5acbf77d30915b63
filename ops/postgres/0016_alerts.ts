// Alerts of the saved dashboards with their state, their last checks, the messages that are to be
// sent (an outbox), and the key of a project's webhook signatures.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE alerts (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      dashboard_id uuid NOT NULL REFERENCES dashboards ON DELETE CASCADE,
      -- The id in the document.
      key text NOT NULL,
      position integer NOT NULL,
      query text NOT NULL,
      condition text NOT NULL,
      every_seconds integer NOT NULL,
      targets text[] NOT NULL,
      -- Null: that of the project.
      timezone text,
      state text NOT NULL DEFAULT 'ok' CHECK (state IN ('ok', 'firing', 'failing')),
      changed_at timestamptz,
      -- Failed checks in a row.
      failures integer NOT NULL DEFAULT 0,
      -- Changes of the state since the alert exists; numbers the messages.
      transitions integer NOT NULL DEFAULT 0,
      -- Only the database's clock decides what is due.
      next_due_at timestamptz NOT NULL DEFAULT now(),
      checked_at timestamptz,
      -- The check that runs; its result counts only while the alert has this id.
      claim_id uuid,
      claimed_until timestamptz,
      UNIQUE (dashboard_id, key)
    )`);
  await knex.raw('CREATE INDEX alerts_due ON alerts (next_due_at)');
  await knex.raw('CREATE INDEX alerts_project ON alerts (project_id)');
  await knex.raw(`
    CREATE TABLE alert_checks (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      alert_id uuid NOT NULL REFERENCES alerts ON DELETE CASCADE,
      at timestamptz NOT NULL DEFAULT now(),
      outcome text NOT NULL CHECK (outcome IN ('ok', 'firing', 'failed')),
      value double precision,
      error text,
      state text NOT NULL,
      -- The number of the change of state that the check caused.
      transition integer
    )`);
  await knex.raw('CREATE INDEX alert_checks_alert ON alert_checks (alert_id, id)');
  await knex.raw(`
    CREATE TABLE alert_deliveries (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL,
      alert_id uuid NOT NULL REFERENCES alerts ON DELETE CASCADE,
      transition integer NOT NULL,
      target text NOT NULL,
      message jsonb NOT NULL,
      -- Rows of the answer; removed when the message has been sent, and by every erasure.
      rows jsonb,
      status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sent', 'failed')),
      attempts integer NOT NULL DEFAULT 0,
      error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      claim_id uuid,
      claimed_until timestamptz,
      ended_at timestamptz,
      UNIQUE (alert_id, transition, target)
    )`);
  await knex.raw("CREATE INDEX alert_deliveries_due ON alert_deliveries (next_attempt_at) WHERE status = 'waiting'");
  await knex.raw('CREATE INDEX alert_deliveries_project ON alert_deliveries (project_id)');
  // The planner's statistics contain values, and outlive their rows.
  await knex.raw('ALTER TABLE alert_deliveries ALTER COLUMN rows SET STATISTICS 0');
  await knex.raw(`
    CREATE TABLE webhook_secrets (
      project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
      encrypted_secret bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`);
}

export async function down(knex: Knex): Promise<void> {
  for (const table of ['webhook_secrets', 'alert_deliveries', 'alert_checks', 'alerts']) {
    await knex.schema.dropTable(table);
  }
}
