// Reports in the table of alerts, because both are claimed, counted and delivered in the same way: a
// report has a schedule where an alert has a query, a condition and an interval.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE alerts
      ADD COLUMN kind text NOT NULL DEFAULT 'alert' CHECK (kind IN ('alert', 'report')),
      -- Local time of a report: 'monday 08:00'.
      ADD COLUMN schedule text,
      ALTER COLUMN query DROP NOT NULL,
      ALTER COLUMN condition DROP NOT NULL,
      ALTER COLUMN every_seconds DROP NOT NULL,
      DROP CONSTRAINT alerts_dashboard_id_key_key,
      ADD UNIQUE (dashboard_id, kind, key),
      ADD CONSTRAINT alerts_form CHECK (CASE kind
        WHEN 'alert' THEN num_nulls(query, condition, every_seconds) = 0
        ELSE schedule IS NOT NULL END)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("DELETE FROM alerts WHERE kind = 'report'");
  await knex.raw(`
    ALTER TABLE alerts
      DROP CONSTRAINT alerts_form,
      DROP CONSTRAINT alerts_dashboard_id_kind_key_key,
      ADD UNIQUE (dashboard_id, key),
      ALTER COLUMN query SET NOT NULL,
      ALTER COLUMN condition SET NOT NULL,
      ALTER COLUMN every_seconds SET NOT NULL,
      DROP COLUMN schedule,
      DROP COLUMN kind`);
}
