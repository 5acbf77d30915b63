// Queries of each source with the best handwritten SQL for the same answer. The SQL may rely on the
// data: that a property only holds text, or that no two events of a person have the same time.

export interface SourceCase {
  readonly source: string;
  /** Over the placeholder $range. */
  readonly text: string;
  /**
   * Over $scan (project and range of `e`), $actors (events with the user of their device), $actor,
   * $isSomebody, $sessions (rows of `e` that sessions of the range can consist of), $session,
   * $position, $project, $from and $to.
   */
  readonly sql: string;
  /**
   * Columns of the compiled answer that the handwritten SQL returns, when it does not return all.
   */
  readonly columns?: readonly number[];
}

export interface SourceRange {
  readonly projectId: string;
  /** YYYY-MM-DD; the end is exclusive. */
  readonly from: string;
  readonly to: string;
}

const FROM = `toDateTime64('$from', 3, 'UTC')`;
const TO = `toDateTime64('$to', 3, 'UTC')`;

const PLACEHOLDERS: readonly (readonly [string, string])[] = [
  ['$scan', `e.project_id = '$project' AND e.time >= ${FROM} AND e.time < ${TO}`],
  [
    '$sessions',
    `e.project_id = '$project' AND e.time >= ${FROM} - INTERVAL 1 DAY AND e.time < ${TO} + INTERVAL 1 DAY AND e.session_id != ''`,
  ],
  [
    '$actors',
    `events AS e LEFT ANY JOIN (
      SELECT device_hash, user_hash AS muid FROM device_map FINAL WHERE project_id = '$project'
    ) AS m ON if(e.user_hash = 0, e.device_hash, 0) = m.device_hash`,
  ],
  ['$actor', 'if(e.user_hash != 0, e.user_hash, if(m.muid != 0, m.muid, e.device_hash))'],
  ['$isSomebody', '(e.user_hash != 0 OR e.device_hash != 0)'],
  ['$position', 'concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(e.time))), e.insert_id)'],
  ['$ms', 'toUnixTimestamp64Milli(e.time)'],
  ['$session', 'xxh3(e.session_id)'],
];

/** Of events that are all of one user. */
const LIST_COLUMNS = `e.insert_id, e.event_type, e.time, e.user_id, 'user_17' AS distinct_id, e.device_id, e.session_id,
  (e.ep_str, e.ep_num, e.ep_bool, e.ep_null), (e.up_str, e.up_num, e.up_bool, e.up_null),
  e.ip, e.browser, e.browser_version, e.os, e.os_version, e.device_type, e.platform`;

/** Only sessions of a person's last day can be the last session. */
const LAST_SESSIONS = `SELECT arrayJoin(actors) AS actor, argMax(exit_path, (started, session_id)) AS exit_path
  FROM (
    SELECT e.session_id AS session_id, min(e.time) AS started, groupUniqArray($actor) AS actors,
      argMaxIf(e.path, $position, e.url != '') AS exit_path
    FROM $actors
    WHERE e.project_id = '$project' AND e.session_id IN (
      SELECT e.session_id FROM $actors
      INNER JOIN (
        SELECT $actor AS actor, max(e.time) AS newest
        FROM $actors WHERE e.project_id = '$project' AND e.session_id != '' GROUP BY actor
      ) AS n ON $actor = n.actor
      WHERE e.project_id = '$project' AND e.session_id != '' AND e.time > n.newest - INTERVAL 1 DAY
    )
    GROUP BY session_id
  ) GROUP BY actor`;

/** Sorted times of the events of each step. */
export const stepTimes = (conditions: readonly string[]): string =>
  conditions.map((is, index) => `arraySort(groupArrayIf($ms, ${is})) AS t${index + 1}`).join(', ');

export const STEPS = ['page_view', 'add_to_cart', 'purchase'].map((type) => `e.event_type = '${type}'`);

/**
 * The best attempt of each person, as times since its start: for each first step the earliest
 * second, and the earliest third after it.
 */
export const bestAttempts = (conditions: readonly string[]): string => `
  SELECT arrayMap(a -> (a, arrayFirst(b -> b >= a AND b <= a + 86400000, t2)), t1) AS two,
    arrayMap(a -> (a.1, a.2, if(a.2 = 0, 0, arrayFirst(c -> c >= a.2 AND c <= a.1 + 86400000, t3))), two) AS attempts,
    arrayFirst(a -> a.3 > 0, attempts) AS full,
    arrayFirst(a -> a.2 > 0, two) AS half,
    multiIf(full.3 > 0, [toInt64(0), full.2 - full.1, full.3 - full.1], half.2 > 0, [toInt64(0), half.2 - half.1], [toInt64(0)]) AS best
  FROM (
    SELECT $actor AS actor, ${stepTimes(conditions)} FROM $actors
    WHERE $scan AND e.event_type IN ('page_view', 'add_to_cart', 'purchase') GROUP BY actor HAVING notEmpty(t1)
  )`;

/** One row per step of a funnel, with the columns of the answer but the name of the event. */
export const funnelOf = (conditions: readonly string[]): string => `
  SELECT s, r[s], r[s] / r[1], if(s = 1, 1, r[s] / r[s - 1]), if(s = 1, NULL, d[s]) FROM (
    SELECT arrayJoin([1, 2, 3]) AS s, [count(), countIf(length(best) > 1), countIf(length(best) > 2)] AS r,
      [0, quantileExactInclusiveIf(0.5)(best[2] / 1000, length(best) > 1), quantileExactInclusiveIf(0.5)(best[3] / 1000, length(best) > 2)] AS d
    FROM (${bestAttempts(conditions)})
  )`;

/**
 * Retention of sign-ups by week, with the columns of the answer. Expressions: `views` gathers the
 * times of a person's views, `weeks` makes their weeks of them, and `isBack` says whether these
 * contain the n-th week after the cohort's.
 */
export const retentionOf = ({ views, weeks, isBack }: Record<'views' | 'weeks' | 'isBack', string>): string => `
  SELECT cohort, size, n, back[n + 1], back[n + 1] / size FROM (
    SELECT cohort, count() AS size, sumForEach(arrayMap(n -> ${isBack}, range(13))) AS back,
      arrayJoin(range(least(13, intDiv(toMonday(${TO} - INTERVAL 1 MILLISECOND) - cohort, 7) + 1))) AS n
    FROM (
      SELECT toMonday(fromUnixTimestamp64Milli(started, 'UTC')) AS cohort, ${weeks} AS weeks
      FROM (
        SELECT minIf($ms, e.event_type = 'signup') AS started, ${views} AS views
        FROM $actors WHERE $scan AND e.event_type IN ('signup', 'page_view') AND $isSomebody
        GROUP BY $actor HAVING countIf(e.event_type = 'signup') > 0
      )
    ) GROUP BY cohort
  ) ORDER BY cohort, n`;

const keysOf = (bucket: string): string => `mapKeys(e.${bucket})`;

const CASES: readonly SourceCase[] = [
  {
    source: 'events, stitched',
    text: '* | $range | unique distinct_id',
    sql: 'SELECT uniqExact($actor) FROM $actors WHERE $scan',
  },
  {
    source: 'events, not stitched',
    text: '* | $range | unique user_id',
    sql: 'SELECT uniqExactIf(e.user_hash, e.user_hash != 0) FROM events AS e WHERE $scan',
  },
  {
    source: 'events, by a property',
    text: 'page_view | $range | count by event_properties.category',
    sql: `SELECT e.ep_str['category'] AS g, count() AS n FROM events AS e
      WHERE $scan AND e.event_type = 'page_view' GROUP BY g ORDER BY n DESC, g`,
  },
  {
    source: 'events, by a profile',
    text: 'page_view | $range | count by user.plan',
    sql: `SELECT if(p.user_hash = 0, NULL, p.plan) AS g, count() AS n FROM $actors LEFT ANY JOIN (
        SELECT user_hash, props_str['plan'] AS plan FROM profiles FINAL WHERE project_id = '$project'
      ) AS p ON $actor = p.user_hash
      WHERE $scan AND e.event_type = 'page_view' GROUP BY g ORDER BY n DESC, g`,
  },
  {
    source: 'events, of people with a behaviour',
    text: 'page_view | $range | where count(purchase) >= 2 and count(add_to_cart) < 5 | unique',
    sql: `SELECT uniqExact($actor) FROM $actors
      WHERE $scan AND e.event_type = 'page_view' AND $actor IN (
        SELECT $actor AS actor FROM $actors WHERE $scan AND e.event_type IN ('purchase', 'add_to_cart')
        GROUP BY actor HAVING countIf(e.event_type = 'purchase') >= 2 AND countIf(e.event_type = 'add_to_cart') < 5
      )`,
  },
  {
    source: 'events, by a session field',
    text: 'page_view | $range | count by session.landing_path',
    sql: `SELECT s.landing AS g, count() AS n FROM events AS e LEFT ANY JOIN (
        SELECT $session AS session, argMinIf(e.path, $position, e.url != '') AS landing
        FROM events AS e WHERE $sessions GROUP BY session
      ) AS s ON $session = s.session
      WHERE $scan AND e.event_type = 'page_view' GROUP BY g ORDER BY n DESC, g LIMIT 1000`,
  },
  {
    source: 'events, by the last session',
    text: 'page_view | $range | unique by user_last_session.exit_path',
    sql: `SELECT l.exit_path AS g, uniqExact($actor) AS n FROM $actors
      LEFT ANY JOIN (${LAST_SESSIONS}) AS l ON $actor = l.actor
      WHERE $scan AND e.event_type = 'page_view' GROUP BY g ORDER BY n DESC, g LIMIT 1000`,
  },
  {
    source: 'funnel',
    text: 'funnel page_view -> add_to_cart -> purchase | $range | window 1d',
    sql: funnelOf(STEPS),
    columns: [0, 2, 3, 4, 5],
  },
  {
    source: 'retention',
    text: 'retention signup returning page_view | $range',
    sql: retentionOf({
      views: `groupArrayIf($ms, e.event_type = 'page_view')`,
      weeks: `arrayMap(v -> toMonday(fromUnixTimestamp64Milli(v, 'UTC')), arrayFilter(v -> v >= started, views))`,
      isBack: 'has(weeks, cohort + 7 * n)',
    }),
    columns: [0, 1, 2, 3, 4],
  },
  {
    source: 'paths',
    text: 'paths from signup | $range | depth 4',
    sql: `SELECT arrayMap(v -> v.2, arraySlice(nodes, arrayFirstIndex(v -> v.2 = 'signup', nodes), 4)) AS path, count() AS users
      FROM (
        SELECT arraySort(groupArray(($position, e.event_type))) AS nodes
        FROM $actors INNER JOIN (
          SELECT $actor AS actor, min($ms) AS ms FROM $actors
          WHERE $scan AND e.event_type = 'signup' AND $isSomebody GROUP BY actor
        ) AS s ON $actor = s.actor
        WHERE $scan AND $ms >= s.ms AND $ms <= s.ms + 3600000 GROUP BY $actor
      ) GROUP BY path ORDER BY users DESC, path LIMIT 20`,
  },
  {
    source: 'sessions',
    text: 'sessions | $range',
    sql: `SELECT toDate(started) AS day, count(), avg(duration), avg(events), avg(events = 1) FROM (
        SELECT min(e.time) AS started, (toUnixTimestamp64Milli(max(e.time)) - toUnixTimestamp64Milli(started)) / 1000 AS duration, count() AS events
        FROM events AS e WHERE $sessions GROUP BY $session HAVING started >= ${FROM} AND started < ${TO}
      ) GROUP BY day ORDER BY day`,
  },
  {
    source: 'lifecycle',
    text: 'lifecycle page_view | $range | by week',
    sql: `SELECT period, status, users FROM (
        SELECT toMonday(${FROM}) + 7 * number AS period, arrayJoin(['New', 'Returning', 'Resurrected', 'Dormant']) AS status
        FROM numbers(toUInt64(1 + intDiv(toMonday(${TO} - INTERVAL 1 MILLISECOND) - toMonday(${FROM}), 7)))
      ) AS grid LEFT ANY JOIN (
        SELECT change.1 AS period, change.2 AS status, count() AS users FROM (
          SELECT arrayJoin(arrayConcat(
            arrayMap((w, gap, i) -> (w, multiIf(i = 1, 'New', gap = 7, 'Returning', 'Resurrected')), weeks, arrayDifference(weeks), arrayEnumerate(weeks)),
            arrayMap(w -> (w + 7, 'Dormant'), arrayFilter((w, gap) -> gap != 7, weeks, arrayShiftLeft(arrayDifference(weeks), 1)))
          )) AS change
          FROM (
            SELECT arraySort(groupUniqArray(toMonday(e.time))) AS weeks FROM $actors
            WHERE e.project_id = '$project' AND e.time < ${TO} + INTERVAL 7 DAY AND e.event_type = 'page_view' AND $isSomebody
            GROUP BY $actor
          )
        ) GROUP BY period, status
      ) AS counts USING (period, status)`,
  },
  {
    source: 'stickiness',
    text: 'stickiness page_view | $range',
    sql: `SELECT days, count() AS users FROM (
        SELECT $actor AS actor, uniqExact(toDate(e.time)) AS days
        FROM $actors WHERE $scan AND e.event_type = 'page_view' GROUP BY actor
      ) GROUP BY days ORDER BY days`,
  },
  {
    source: 'user timeline',
    text: 'user "user_17" | $range',
    sql: `SELECT ${LIST_COLUMNS} FROM events AS e
      WHERE $scan AND (e.user_hash = sipHash64('user_17') OR e.user_hash = 0 AND e.device_hash IN (
        SELECT device_hash FROM device_map FINAL WHERE project_id = '$project' AND user_id = 'user_17'
      )) ORDER BY e.time DESC, e.insert_id DESC LIMIT 1000`,
  },
  {
    source: 'users',
    text: 'users | $range | count by plan',
    sql: `SELECT props_str['plan'] AS plan, count() AS n FROM profiles FINAL
      WHERE project_id = '$project' AND last_seen >= ${FROM} AND last_seen < ${TO} GROUP BY plan ORDER BY n DESC, plan`,
  },
  {
    source: 'users, listed',
    text: 'users | $range',
    sql: `SELECT user_id, email, email_domain, first_seen, last_seen, (props_str, props_num, props_bool) FROM profiles FINAL
      WHERE project_id = '$project' AND last_seen >= ${FROM} AND last_seen < ${TO} ORDER BY last_seen DESC, user_id LIMIT 1000`,
  },
  {
    source: 'latest',
    text: 'page_view | $range | latest _path | count by last_value',
    sql: `SELECT last_value, count() AS n FROM (
        SELECT $actor AS actor, argMax(e.path, $position) AS last_value
        FROM $actors WHERE $scan AND e.event_type = 'page_view' AND e.path != '' GROUP BY actor
      ) GROUP BY last_value ORDER BY n DESC, last_value LIMIT 1000`,
  },
  {
    source: 'formula',
    text: 'formula unique(purchase) / count(add_to_cart) | $range',
    sql: `SELECT uniqExactIf($actor, e.event_type = 'purchase') / countIf(e.event_type = 'add_to_cart')
      FROM $actors WHERE $scan AND e.event_type IN ('purchase', 'add_to_cart')`,
  },
  {
    source: 'fields',
    text: 'fields | $range',
    // All counts of the answer, but only for columns that have values in this data.
    sql: `SELECT sum(n), sumForEach(counts), sumMap(a, arrayMap(k -> n, a)), sumMap(b, arrayMap(k -> n, b)), sumMap(c, arrayMap(k -> n, c)),
        sumMap(d, arrayMap(k -> n, d)), sumMap(f, arrayMap(k -> n, f)), sumMap(g, arrayMap(k -> n, g)) FROM (
        SELECT arrayFilter((k, v) -> v != '', ${keysOf('ep_str')}, mapValues(e.ep_str)) AS a, ${keysOf('ep_num')} AS b, ${keysOf('ep_bool')} AS c,
          arrayFilter((k, v) -> v != '', ${keysOf('up_str')}, mapValues(e.up_str)) AS d, ${keysOf('up_num')} AS f, ${keysOf('up_bool')} AS g,
          count() AS n, [countIf(e.user_hash != 0 OR e.device_hash != 0), countIf(e.user_hash != 0), countIf(e.device_hash != 0), countIf(e.session_id != ''), countIf(e.insert_id != ''),
          ${toPresenceCounts()}] AS counts
        FROM events AS e WHERE $scan GROUP BY a, b, c, d, f, g
      )`,
    columns: [0],
  },
  {
    source: 'inspect *',
    text: 'inspect * | $range',
    sql: `SELECT event_type, sum(n), sum(people), min(first_at), max(last_at), sumMap(keys, counts) FROM (
        SELECT e.event_type AS event_type, 0 AS n, uniqExactIf($actor, $isSomebody) AS people, min(e.time) AS first_at, max(e.time) AS last_at, [] AS keys, [] AS counts
        FROM $actors WHERE $scan GROUP BY event_type
        UNION ALL
        SELECT event_type, sum(m), 0, min(first_at), max(last_at), sumMap(keys, arrayMap(k -> m, keys)).1, sumMap(keys, arrayMap(k -> m, keys)).2 FROM (
          SELECT e.event_type AS event_type, count() AS m, min(e.time) AS first_at, max(e.time) AS last_at,
            arrayConcat(${keysOf('ep_str')}, ${keysOf('ep_num')}, ${keysOf('ep_bool')}) AS keys
          FROM events AS e WHERE $scan GROUP BY event_type, keys
        ) GROUP BY event_type
      ) GROUP BY event_type ORDER BY 2 DESC, event_type`,
    columns: [0, 1, 2, 3, 4],
  },
  {
    source: 'inspect, one type',
    text: 'inspect purchase | $range',
    sql: `SELECT ('event_properties', key), 100 * sum(n) / (SELECT count() FROM events AS e WHERE $scan AND e.event_type = 'purchase'),
        sumMap([type], [n]), uniqExact(text), arraySort(topKWeighted(5)(text, n)) FROM (
        SELECT item.1 AS key, item.2 AS type, item.3 AS text, count() AS n FROM (
          SELECT arrayJoin(arrayConcat(
            arrayMap((k, v) -> (toString(k), 'string', v), ${keysOf('ep_str')}, mapValues(e.ep_str)),
            arrayMap((k, v) -> (toString(k), 'number', toString(v)), ${keysOf('ep_num')}, mapValues(e.ep_num)),
            arrayMap((k, v) -> (toString(k), 'boolean', if(v, 'true', 'false')), ${keysOf('ep_bool')}, mapValues(e.ep_bool))
          )) AS item FROM events AS e WHERE $scan AND e.event_type = 'purchase'
        ) GROUP BY key, type, text
      ) GROUP BY key`,
    // The choice among equally frequent samples is unspecified.
    columns: [0, 1, 2, 3],
  },
  {
    source: 'choice',
    text: 'choice checkout | $range | results purchase',
    sql: `SELECT 0 AS kind, if(length(variants) = 1, variants[1], '') AS variant, count(),
        countIf(arrayExists(t -> t >= exposed_at AND t <= exposed_at + 604800000, conversions)) FROM (
        SELECT groupUniqArrayIf(e.ep_str['variant_key'], e.event_type = 'service.exposure') AS variants,
          minIf($ms, e.event_type = 'service.exposure') AS exposed_at, groupArrayIf($ms, e.event_type = 'purchase') AS conversions
        FROM $actors
        WHERE e.project_id = '$project' AND e.time >= ${FROM} AND e.time < ${TO} + INTERVAL 7 DAY
          AND (e.event_type = 'purchase' OR e.event_type = 'service.exposure' AND e.time < ${TO} AND e.ep_str['choice_key'] = 'checkout')
        GROUP BY $actor HAVING notEmpty(variants)
      ) GROUP BY variant
      UNION ALL
      SELECT 1, e.ep_str['variant_key'] AS variant, 0, 0 FROM events AS e
      WHERE $scan AND e.event_type = 'service.exposure' AND e.ep_str['choice_key'] = 'checkout' GROUP BY variant`,
    columns: [0, 1, 2, 3],
  },
];

function toPresenceCounts(): string {
  const columns =
    'url path path_clean hostname title referrer referrer_domain browser browser_version os os_version platform device_type geo_country geo_city geo_continent geo_timezone ip ua library ingest_origin';
  return columns
    .split(' ')
    .map((column) => `countIf(e.${column} != '')`)
    .join(', ');
}

/** Queries over the same range whose ratios are the cost of stitching. */
export const stitchingCases = (range: SourceRange): { stitched: string; unstitched: string; byText: string } => ({
  stitched: fill('* | $range | unique distinct_id', range),
  unstitched: fill(
    'SELECT uniqExact(if(e.user_hash != 0, e.user_hash, e.device_hash)) FROM events AS e WHERE $scan',
    range,
  ),
  byText: fill('SELECT uniqExact(e.user_id) FROM events AS e WHERE $scan', range),
});

function fill(text: string, { projectId, from, to }: SourceRange): string {
  return PLACEHOLDERS.reduce((filled, [name, sql]) => filled.replaceAll(name, sql), text)
    .replaceAll('$range', `from ${from} to ${to}`)
    .replaceAll('$from', `${from} 00:00:00`)
    .replaceAll('$to', `${to} 00:00:00`)
    .replaceAll('$project', projectId);
}

export const toSourceCases = (range: SourceRange, cases: readonly SourceCase[] = CASES): SourceCase[] =>
  cases.map(({ text, sql, ...rest }) => ({ ...rest, text: fill(text, range), sql: fill(sql, range) }));
