// Usage by project and day in PostgreSQL. The rollup writes it, the routes read it.
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { UsageDay } from './answers.js';
import type { DayCounts } from './counters.js';
import type { DayRange } from './range.js';

/** One row per day of the range, days without usage included. */
export async function readUsage(postgres: Postgres, projectId: ProjectId, range: DayRange): Promise<UsageDay[]> {
  // Selected as double precision (exact to 2^53): pg returns bigint as text. Timestamps without a
  // time zone, because in that of the session a day may have no midnight.
  const { rows } = await postgres.raw<{ rows: UsageDay[] }>(
    `SELECT to_char(days.day, 'YYYY-MM-DD') AS date,
       coalesce(${ACCEPTED}, 0)::float8 AS events_ingested,
       coalesce(events_stored, 0)::float8 AS events_stored,
       coalesce(queries_run, 0)::float8 AS queries_run
     FROM generate_series(?::timestamp, ?::timestamp, interval '1 day') AS days(day)
     LEFT JOIN usage_days ON usage_days.day = days.day AND project_id = ?
     ORDER BY days.day`,
    [range.from, range.to, projectId],
  );
  return rows;
}

/** Redis may lose counts of events that are stored: both are lower bounds of what was accepted. */
const ACCEPTED = 'greatest(events_ingested, events_stored_max)';

/**
 * Accepted events of an organization since the first of the month (UTC), deleted projects included.
 */
export async function eventsThisMonth(postgres: Postgres, organizationId: string): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { events: number }[] }>(
    `SELECT coalesce(sum(${ACCEPTED}), 0)::float8 AS events
     FROM usage_days JOIN projects ON projects.id = project_id
     WHERE organization_id = ? AND day >= date_trunc('month', now() AT TIME ZONE 'UTC')`,
    [organizationId],
  );
  return rows[0]?.events ?? 0;
}

/**
 * Counts of a Redis that has lost earlier ones begin at zero: they are added to the total at that
 * time. A total never becomes smaller.
 */
export async function saveCounts(postgres: Postgres, day: string, { since, counts }: DayCounts): Promise<void> {
  await postgres.raw(
    `INSERT INTO usage_days AS old (project_id, day, events_ingested, queries_run, counted_since)
     SELECT "projectId", ?, events, queries, ?
     FROM json_to_recordset(?) AS counts("projectId" uuid, events bigint, queries bigint)
     ON CONFLICT (project_id, day) DO UPDATE SET
       counted_since = greatest(old.counted_since, excluded.counted_since),
       ${total('events_ingested', 'events_before')}, ${total('queries_run', 'queries_before')}`,
    [day, since, JSON.stringify(counts)],
  );
}

/** Counts of an earlier `since` come from a rollup that was overtaken. */
const total = (column: string, before: string): string => `
  ${before} = CASE WHEN old.counted_since < excluded.counted_since THEN old.${column} ELSE old.${before} END,
  ${column} = CASE
    WHEN old.counted_since < excluded.counted_since THEN old.${column} + excluded.${column}
    WHEN old.counted_since > excluded.counted_since THEN greatest(old.${column}, excluded.${column})
    ELSE greatest(old.${column}, old.${before} + excluded.${column}) END`;

export interface StoredCount {
  readonly project_id: string;
  readonly day: string;
  readonly events: number;
}

/** Replaces the stored-event totals of the range. Days missing in `stored` are set to 0. */
export async function saveStored(postgres: Postgres, range: DayRange, stored: readonly StoredCount[]): Promise<void> {
  const json = JSON.stringify(stored);
  await postgres.transaction(async (transaction) => {
    await transaction.raw(
      `UPDATE usage_days SET events_stored = 0
       WHERE day BETWEEN ? AND ? AND events_stored > 0 AND NOT EXISTS (
         SELECT FROM ${STORED} WHERE stored.project_id = usage_days.project_id AND stored.day = usage_days.day)`,
      [range.from, range.to, json],
    );
    await transaction.raw(
      `INSERT INTO usage_days AS old (project_id, day, events_stored, events_stored_max)
       SELECT project_id, day, events, events FROM ${STORED}
       ON CONFLICT (project_id, day) DO UPDATE SET events_stored = excluded.events_stored,
         events_stored_max = greatest(old.events_stored_max, excluded.events_stored)
       WHERE old.events_stored <> excluded.events_stored OR old.events_stored_max < excluded.events_stored`,
      [json],
    );
  });
}

const STORED = 'json_to_recordset(?) AS stored(project_id uuid, day date, events bigint)';
