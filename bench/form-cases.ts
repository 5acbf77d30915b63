// Queries of the forms that a source may take, with the best handwritten SQL for the same answer.
import { bestAttempts, funnelOf, retentionOf, type SourceCase, STEPS, stepTimes } from './source-cases.js';

const FUNNEL = 'funnel page_view -> add_to_cart -> purchase | $range | window 1d';
const [VIEW = '', CART = '', PURCHASE = ''] = STEPS;
const FIRST_DAY = `toDate('$from')`;
const START = `toDateTime64('$from', 3, 'UTC')`;
const END = `toDateTime64('$to', 3, 'UTC')`;
/** Days of the range. */
const LENGTH = `dateDiff('day', ${START}, ${END})`;
const BACK = `e.project_id = '$project' AND e.time < ${END} AND e.time >= ${START} -`;

/** Further forms, which are compiled and not run. */
export const COMPILED_FORMS: readonly string[] = [
  'page_view[_path = "/pricing"] | last 28d | unique by day | rolling 7d',
  '(signup[plan = "pro" and price > 10], login) | last month | count by event_type | share',
  'funnel page_view[_path = "/"] -> (signup, login) -> purchase[price >= 10] | exclude logout[plan = "pro"] | by day, _country | times',
  'funnel page_view -> purchase | times 1h',
  'funnel page_view -> add_to_cart -> purchase | order strict | compare weekdays',
  'funnel page_view -> purchase | people lost after 1',
  'funnel page_view -> purchase | unit user.company, event_properties.plan',
  '* | this month | count by day, _country | compare previous',
  'formula count(signup) / unique(page_view) as rate, sum(purchase, price) as revenue, unique(*) / unique(* last 28d) as recent by day, _country',
  '* | where count(purchase[price > 10] last 30d) >= 3 and count(logout) = 0 and sum(purchase, price per session_id) < 50 | unique by week',
  'users | where sum(purchase, price) > 100 | count by plan',
  'retention signup returning purchase[price > 10] | first | by quarter',
  'retention * | window 24h | sum price | by _country',
  'retention signup returning page_view | unbounded | people at 3',
  'lifecycle page_view | people dormant',
  'page_view | unique by _country | where unique_count > 20',
  'page_view | unique by _country | top 5 other',
  'page_view | count per distinct_id | p90 count by weekday',
  'users | count by day of first_seen',
  'sessions | where session.landing_path starts with "/products" | count by session.first_event, hour_of_day',
  'page_view | unique by user_last_session.utm_source | sort unique_count | top 20',
  'choice checkout | results sum(purchase, price) | cuped 14d | guard error, refund',
];

/** Limits of `times`. */
const WITHIN_MS = [60_000, 3_600_000, 86_400_000, 604_800_000, 2_592_000_000];
/**
 * Of `best`, the milliseconds from the start to each step: how many have each step, and the
 * medians.
 */
const STEPS_OF_BEST = `[count(), countIf(length(best) > 1), countIf(length(best) > 2)] AS r,
  [0, quantileExactInclusiveIf(0.5)(best[2] / 1000, length(best) > 1), quantileExactInclusiveIf(0.5)(best[3] / 1000, length(best) > 2)] AS d`;

export const FORM_CASES: readonly SourceCase[] = [
  {
    source: 'funnel with conditions of its steps',
    text: 'funnel page_view[category = "hats"] -> add_to_cart[price > 100] -> purchase[price > 100] | $range | window 1d',
    sql: funnelOf([
      `${VIEW} AND e.ep_str['category'] = 'hats'`,
      `${CART} AND e.ep_num['price'] > 100`,
      `${PURCHASE} AND e.ep_num['price'] > 100`,
    ]),
    columns: [0, 2, 3, 4, 5],
  },
  {
    source: 'funnel by week',
    text: `${FUNNEL} | by week`,
    sql: `SELECT week, s, r[s], r[s] / r[1], if(s = 1, 1, r[s] / r[s - 1]), if(s = 1, NULL, d[s]) FROM (
        SELECT week, arrayJoin([1, 2, 3]) AS s, ${STEPS_OF_BEST} FROM (
          SELECT week, argMax(times, length(times) * 100000000000000 - started) AS best FROM (
            SELECT person, attempt.1 AS started, toMonday(fromUnixTimestamp64Milli(started, 'UTC')) AS week,
              multiIf(attempt.3 > 0, [0, attempt.2 - started, attempt.3 - started], attempt.2 > 0, [0, attempt.2 - started], [0]) AS times
            FROM (SELECT rowNumberInAllBlocks() AS person, attempts FROM (${bestAttempts(STEPS)}))
            ARRAY JOIN attempts AS attempt
          ) GROUP BY person, week
        ) GROUP BY week
      )`,
    columns: [0, 1, 3, 4, 5, 6],
  },
  {
    source: 'funnel, times of its steps',
    text: `${FUNNEL} | times`,
    sql: `SELECT s, count(), q[1], q[2], q[3], ${WITHIN_MS.map((ms) => `countIf(ms <= ${ms}) / count()`).join(', ')},
        quantilesExactInclusive(0.1, 0.5, 0.9)(ms / 1000) AS q
      FROM (SELECT arrayJoin(range(2, length(best) + 1)) AS s, best[s] AS ms FROM (${bestAttempts(STEPS)})) GROUP BY s`,
    columns: [0, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  },
  {
    source: 'funnel in any order',
    text: `${FUNNEL} | order any`,
    sql: `SELECT s, r[s], r[s] / r[1], if(s = 1, 1, r[s] / r[s - 1]), if(s = 1, NULL, d[s]) FROM (
        SELECT arrayJoin([1, 2, 3]) AS s, ${STEPS_OF_BEST} FROM (
          SELECT arrayMap(a -> arraySort(arrayMap(t -> t - a, arrayFilter(t -> t > 0 AND t <= a + 86400000,
              [arrayFirst(b -> b >= a, t1), arrayFirst(b -> b >= a, t2), arrayFirst(b -> b >= a, t3)]))),
              arraySort(arrayConcat(t1, t2, t3))) AS attempts,
            arrayMax(arrayMap(of -> length(of), attempts)) AS steps,
            arrayFirst(of -> length(of) = steps, attempts) AS best
          FROM (
            SELECT ${stepTimes(STEPS)} FROM $actors
            WHERE $scan AND e.event_type IN ('page_view', 'add_to_cart', 'purchase') AND $isSomebody GROUP BY $actor
          )
        )
      )`,
    columns: [0, 2, 3, 4, 5],
  },
  {
    source: 'events, compared',
    text: 'page_view | $range | unique by day | compare previous',
    sql: `SELECT d, d - ${LENGTH}, n, p, if(p = 0, NULL, (n - p) / p) FROM (
        SELECT toDate(e.time) + if(e.time < ${START}, ${LENGTH}, 0) AS d,
          uniqExactIf($actor, e.time >= ${START} AND $isSomebody) AS n, uniqExactIf($actor, e.time < ${START} AND $isSomebody) AS p
        FROM $actors WHERE ${BACK} toIntervalDay(${LENGTH}) AND e.event_type = 'page_view' GROUP BY d
      ) ORDER BY d`,
  },
  {
    source: 'formula by a field',
    text: 'formula unique(purchase) / unique(page_view) by _country | $range',
    sql: `SELECT e.geo_country AS g, uniqExactIf($actor, ${PURCHASE}) / uniqExactIf($actor, ${VIEW}) AS v
      FROM $actors WHERE $scan AND e.event_type IN ('purchase', 'page_view') AND $isSomebody GROUP BY g ORDER BY v DESC`,
  },
  {
    source: 'unique, of a unit',
    text: 'page_view | $range | unique by week | unit user.company',
    sql: `SELECT toMonday(e.time) AS week, uniqExactIf(p.company, p.company != '') FROM $actors LEFT ANY JOIN (
        SELECT user_hash, props_str['company'] AS company FROM profiles FINAL WHERE project_id = '$project'
      ) AS p ON $actor = p.user_hash
      WHERE $scan AND e.event_type = 'page_view' GROUP BY week ORDER BY week`,
  },
  {
    source: 'unique, rolling 28 days',
    text: '* | $range | unique by day | rolling 28d',
    sql: `SELECT d, uniqExact(actor) FROM (
        SELECT DISTINCT $actor AS actor, toDate(e.time) AS day FROM $actors WHERE ${BACK} INTERVAL 27 DAY AND $isSomebody
      ) ARRAY JOIN arrayMap(n -> day + n, range(28)) AS d
      WHERE d >= ${FIRST_DAY} AND d < toDate('$to') GROUP BY d ORDER BY d`,
  },
  {
    source: 'unique, cumulative',
    text: '* | $range | unique by day | cumulative',
    sql: `SELECT day, sum(n) OVER (ORDER BY day) FROM (
        SELECT day, count() AS n FROM (
          SELECT toDate(min(e.time)) AS day FROM $actors WHERE $scan AND $isSomebody GROUP BY $actor
        ) GROUP BY day
      ) ORDER BY day`,
  },
  {
    source: 'count, share of groups',
    text: 'page_view | $range | count by day, _country | share',
    sql: `SELECT day, g, n, n / sum(n) OVER (PARTITION BY day) FROM (
        SELECT toDate(e.time) AS day, e.geo_country AS g, count() AS n FROM events AS e
        WHERE $scan AND e.event_type = 'page_view' GROUP BY day, g
      )`,
  },
  {
    source: 'retention, unbounded',
    text: 'retention signup returning page_view | $range | unbounded',
    sql: retentionOf({
      views: `maxIf($ms, e.event_type = 'page_view')`,
      weeks: `if(views >= started, toMonday(fromUnixTimestamp64Milli(views, 'UTC')), toDate(0))`,
      isBack: 'weeks >= cohort + 7 * n',
    }),
    columns: [0, 1, 2, 3, 4],
  },
  {
    source: 'people behind a number',
    text: 'signup | $range | people',
    sql: `SELECT id, p.user_id, p.email, p.email_domain, if(p.user_hash = 0, NULL, p.first_seen), if(p.user_hash = 0, NULL, p.last_seen),
        (p.props_str, p.props_num, p.props_bool, p.user_hash != 0), at
      FROM (SELECT *, user_hash FROM profiles FINAL WHERE project_id = '$project') AS p RIGHT ANY JOIN (
        SELECT $actor AS actor, any(if(e.user_id != '', e.user_id, if(m.muid != 0, m.user, e.device_id))) AS id, max(e.time) AS at
        FROM events AS e LEFT ANY JOIN (
          SELECT device_hash, user_hash AS muid, user_id AS user FROM device_map FINAL WHERE project_id = '$project'
        ) AS m ON if(e.user_hash = 0, e.device_hash, 0) = m.device_hash
        WHERE $scan AND e.event_type = 'signup' AND $isSomebody GROUP BY actor ORDER BY at DESC, id LIMIT 1000
      ) AS a ON p.user_hash = a.actor
      ORDER BY at DESC, id`,
  },
  {
    source: 'count by steps of a number',
    text: 'purchase | $range | count by bucket(price, 10)',
    sql: `SELECT floor(e.ep_num['price'] / 10) * 10 AS g, count() AS n FROM events AS e
      WHERE $scan AND e.event_type = 'purchase' GROUP BY g ORDER BY g`,
  },
];
