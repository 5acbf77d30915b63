// Queries of the forms that a source may take, with the best handwritten SQL for the same answer.
import { bestAttempts, funnelOf, type SourceCase, STEPS } from './source-cases.js';

const FUNNEL = 'funnel page_view -> add_to_cart -> purchase | $range | window 1d';
const [VIEW = '', CART = '', PURCHASE = ''] = STEPS;
const FIRST_DAY = `toDate('$from')`;
const START = `toDateTime64('$from', 3, 'UTC')`;
const END = `toDateTime64('$to', 3, 'UTC')`;
/** Days of the range. */
const LENGTH = `dateDiff('day', ${START}, ${END})`;
const BACK = `e.project_id = '$project' AND e.time < ${END} AND e.time >= ${START} -`;

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
    // Without the medians.
    sql: `SELECT week, s, r[s] FROM (
        SELECT week, arrayJoin([1, 2, 3]) AS s, [count(), countIf(best > 1), countIf(best > 2)] AS r FROM (
          SELECT person, week, max(reached) AS best FROM (
            SELECT person, attempt, toMonday(fromUnixTimestamp64Milli(attempt.1, 'UTC')) AS week,
              multiIf(attempt.3 > 0, 3, attempt.2 > 0, 2, 1) AS reached
            FROM (SELECT rowNumberInAllBlocks() AS person, attempts FROM (${bestAttempts(STEPS)}))
            ARRAY JOIN attempts AS attempt
          ) GROUP BY person, week
        ) GROUP BY week
      )`,
    columns: [0, 1, 3],
  },
  {
    source: 'funnel, times of its steps',
    text: `${FUNNEL} | times`,
    sql: `SELECT s, countIf(length(best) >= s), quantileExactInclusiveIf(0.1)(best[s] / 1000, length(best) >= s),
        quantileExactInclusiveIf(0.5)(best[s] / 1000, length(best) >= s),
        quantileExactInclusiveIf(0.9)(best[s] / 1000, length(best) >= s)
      FROM (SELECT best, arrayJoin([2, 3]) AS s FROM (${bestAttempts(STEPS)})) GROUP BY s`,
    columns: [0, 2, 3, 4, 5],
  },
  {
    source: 'funnel in any order',
    text: `${FUNNEL} | order any`,
    sql: `SELECT s, r[s] FROM (
        SELECT arrayJoin([1, 2, 3]) AS s, [count(), countIf(best > 1), countIf(best > 2)] AS r FROM (
          SELECT arrayMax(arrayMap(a -> arrayExists(b -> b >= a AND b <= a + 86400000, t1)
              + arrayExists(b -> b >= a AND b <= a + 86400000, t2)
              + arrayExists(b -> b >= a AND b <= a + 86400000, t3), arrayConcat(t1, t2, t3))) AS best
          FROM (
            SELECT ${STEPS.map((is, index) => `groupArrayIf($ms, ${is}) AS t${index + 1}`).join(', ')} FROM $actors
            WHERE $scan AND e.event_type IN ('page_view', 'add_to_cart', 'purchase') AND $isSomebody GROUP BY $actor
          )
        )
      )`,
    columns: [0, 2],
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
    sql: `SELECT cohort, size, n, back[n + 1], back[n + 1] / size FROM (
        SELECT cohort, count() AS size,
          sumForEach(arrayMap(n -> last >= cohort + 7 * n, range(13))) AS back,
          arrayJoin(range(least(13, intDiv(toMonday(${END} - INTERVAL 1 MILLISECOND) - cohort, 7) + 1))) AS n
        FROM (
          SELECT toMonday(fromUnixTimestamp64Milli(started, 'UTC')) AS cohort,
            if(latest >= started, toMonday(fromUnixTimestamp64Milli(latest, 'UTC')), toDate(0)) AS last
          FROM (
            SELECT minIf($ms, e.event_type = 'signup') AS started, maxIf($ms, e.event_type = 'page_view') AS latest
            FROM $actors WHERE $scan AND e.event_type IN ('signup', 'page_view') AND $isSomebody
            GROUP BY $actor HAVING countIf(e.event_type = 'signup') > 0
          )
        ) GROUP BY cohort
      ) ORDER BY cohort, n`,
    columns: [0, 1, 2, 3, 4],
  },
  {
    source: 'people behind a number',
    text: 'signup | $range | people',
    // Without their profiles.
    sql: `SELECT any(if(e.user_id != '', e.user_id, if(m.muid != 0, m.user, e.device_id))) AS id, max(e.time) AS at
      FROM events AS e LEFT ANY JOIN (
        SELECT device_hash, user_hash AS muid, user_id AS user FROM device_map FINAL WHERE project_id = '$project'
      ) AS m ON if(e.user_hash = 0, e.device_hash, 0) = m.device_hash
      WHERE $scan AND e.event_type = 'signup' AND $isSomebody GROUP BY $actor ORDER BY at DESC, id LIMIT 1000`,
    columns: [0, 7],
  },
  {
    source: 'count by steps of a number',
    text: 'purchase | $range | count by bucket(price, 10)',
    sql: `SELECT floor(e.ep_num['price'] / 10) * 10 AS g, count() AS n FROM events AS e
      WHERE $scan AND e.event_type = 'purchase' GROUP BY g ORDER BY g`,
  },
];
