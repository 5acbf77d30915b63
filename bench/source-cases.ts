// One question of each source, and the SQL that someone who knows the table would write by hand for the same answer.
// `columns` names the positions of the compiled answer that the SQL by hand gives, where it gives fewer.

export interface SourceCase {
  readonly source: string;
  /** Over the placeholder $range. */
  readonly text: string;
  /** Over $scan (project and range of `e`), $actors (events with the user of their device), $actor, $project, $from, $to. */
  readonly sql?: string;
  readonly columns?: readonly number[];
}

export interface SourceRange {
  readonly projectId: string;
  /** As `2026-11-01`; the end is excluded. */
  readonly from: string;
  readonly to: string;
}

const ACTORS = `events AS e LEFT ANY JOIN (
  SELECT did, uid AS muid FROM device_map FINAL WHERE project_id = '$project'
) AS m ON e.did = m.did`;
const ACTOR = 'if(e.uid != 0, e.uid, if(m.muid != 0, m.muid, e.did))';

const CASES: readonly SourceCase[] = [
  {
    source: 'events, stitched',
    text: '* | $range | unique distinct_id',
    sql: `SELECT uniqExact($actor) FROM $actors WHERE $scan`,
  },
  {
    source: 'events, not stitched',
    text: '* | $range | unique user_id',
    sql: `SELECT uniqExactIf(e.uid, e.uid != 0) FROM events AS e WHERE $scan`,
  },
  {
    source: 'funnel',
    text: 'funnel page_view -> add_to_cart -> purchase | $range | window 1d',
    sql: `SELECT arrayJoin([1, 2, 3]) AS step, [countIf(level >= 1), countIf(level >= 2), countIf(level >= 3)][step] AS users
      FROM (
        SELECT $actor AS actor,
          windowFunnel(86400000, 'strict_once')(toUInt64(toUnixTimestamp64Milli(e.time)),
            e.event_type = 'page_view', e.event_type = 'add_to_cart', e.event_type = 'purchase') AS level
        FROM $actors WHERE $scan AND e.event_type IN ('page_view', 'add_to_cart', 'purchase') GROUP BY actor
      )`,
    columns: [0, 2],
  },
  { source: 'retention', text: 'retention signup returning page_view | $range' },
  { source: 'paths', text: 'paths from signup | $range | depth 4' },
  { source: 'sessions', text: 'sessions | $range' },
  {
    source: 'lifecycle',
    text: 'lifecycle page_view | $range | by week',
  },
  {
    source: 'stickiness',
    text: 'stickiness page_view | $range',
    sql: `SELECT days, count() AS users FROM (
        SELECT $actor AS actor, uniqExact(toDate(e.time)) AS days
        FROM $actors WHERE $scan AND e.event_type = 'page_view' GROUP BY actor
      ) GROUP BY days ORDER BY days`,
  },
  { source: 'user timeline', text: 'user "user_17" | $range' },
  {
    source: 'latest',
    text: 'page_view | $range | latest _path | count by last_value',
    sql: `SELECT last_value, count() AS n FROM (
        SELECT $actor AS actor, argMax(e.path, (e.time, e.insert_id)) AS last_value
        FROM $actors WHERE $scan AND e.event_type = 'page_view' AND e.path != '' GROUP BY actor
      ) GROUP BY last_value ORDER BY n DESC, last_value LIMIT 1000`,
  },
  {
    source: 'formula',
    text: 'formula count(purchase) / count(add_to_cart) | $range',
    sql: `SELECT countIf(e.event_type = 'purchase') / countIf(e.event_type = 'add_to_cart')
      FROM events AS e WHERE $scan AND e.event_type IN ('purchase', 'add_to_cart')`,
  },
  { source: 'fields', text: 'fields | $range' },
  { source: 'inspect *', text: 'inspect * | $range' },
  { source: 'session field', text: 'page_view | $range | count by session.landing_path' },
  { source: 'last session field', text: 'page_view | $range | unique by user_last_session.exit_path' },
];

export function toSourceCases({ projectId, from, to }: SourceRange): SourceCase[] {
  const scan = `e.project_id = '$project' AND e.time >= toDateTime64('$from', 3, 'UTC') AND e.time < toDateTime64('$to', 3, 'UTC')`;
  const fill = (text: string) =>
    text
      .replaceAll('$scan', scan)
      .replaceAll('$actors', ACTORS)
      .replaceAll('$actor', ACTOR)
      .replaceAll('$range', `from ${from} to ${to}`)
      .replaceAll('$from', `${from} 00:00:00`)
      .replaceAll('$to', `${to} 00:00:00`)
      .replaceAll('$project', projectId);
  return CASES.map(({ text, sql, ...rest }) => ({
    ...rest,
    text: fill(text),
    ...(sql !== undefined && { sql: fill(sql) }),
  }));
}
