// Twenty product questions, each with handwritten SQL for the same answer by someone who knows the
// table and its content.

export interface QueryCase {
  readonly text: string;
  /** Over the placeholders $scan (project and range), $from and $to. */
  readonly sql: string;
}

export interface QueryRange {
  readonly projectId: string;
  /** YYYY-MM-DD; the end is exclusive. */
  readonly from: string;
  readonly to: string;
}

const PRICE = `ep_num['price']`;
const ACTOR_SCAN = `events AS e LEFT ANY JOIN (
  SELECT device_hash, user_hash AS muid FROM device_map FINAL WHERE project_id = '$project'
) AS m ON e.device_hash = m.device_hash`;
const ACTOR = 'if(e.user_hash != 0, e.user_hash, if(m.muid != 0, m.muid, e.device_hash))';
// ClickHouse uses the hourly projection only when the time condition has the form that it is
// grouped by.
const HOURS = `project_id = '$project' AND toStartOfHour(time) >= toDateTime('$from', 'UTC') AND toStartOfHour(time) < toDateTime('$to', 'UTC')`;

const CASES: readonly QueryCase[] = [
  { text: '* | $range | count', sql: `SELECT count() FROM events WHERE ${HOURS}` },
  {
    text: '* | $range | count by day',
    sql: `SELECT toDate(toStartOfHour(time)) AS d, count() FROM events WHERE ${HOURS} GROUP BY d ORDER BY d`,
  },
  {
    text: 'page_view | $range | count by hour',
    sql: `SELECT toStartOfHour(time) AS h, count() FROM events WHERE ${HOURS} AND event_type = 'page_view' GROUP BY h ORDER BY h`,
  },
  {
    text: '* | $range | count by event_type | top 10',
    sql: `SELECT event_type, count() AS n FROM events WHERE ${HOURS} GROUP BY event_type ORDER BY n DESC, event_type LIMIT 10`,
  },
  {
    text: '* | $range | unique distinct_id',
    sql: `SELECT uniqExact(${ACTOR}) FROM ${ACTOR_SCAN} WHERE $scan`,
  },
  {
    text: 'purchase | $range | unique distinct_id',
    sql: `SELECT uniqExact(${ACTOR}) FROM ${ACTOR_SCAN} WHERE $scan AND event_type = 'purchase'`,
  },
  {
    text: 'page_view | $range | unique distinct_id by day',
    sql: `SELECT toDate(e.time) AS d, uniqExact(${ACTOR}) FROM ${ACTOR_SCAN} WHERE $scan AND event_type = 'page_view' GROUP BY d ORDER BY d`,
  },
  {
    text: 'signup | $range | unique device_id by _platform',
    sql: `SELECT platform, uniqExact(device_hash) AS n FROM events WHERE $scan AND event_type = 'signup' GROUP BY platform ORDER BY n DESC, platform`,
  },
  {
    text: 'purchase | $range | sum event_properties.price',
    sql: `SELECT sum(${PRICE}) FROM events WHERE $scan AND event_type = 'purchase'`,
  },
  {
    text: 'purchase | $range | sum event_properties.price by day',
    sql: `SELECT toDate(time) AS d, sum(${PRICE}) FROM events WHERE $scan AND event_type = 'purchase' GROUP BY d ORDER BY d`,
  },
  {
    text: 'purchase | $range | avg event_properties.price by event_properties.category',
    sql: `SELECT ep_str['category'] AS c, avg(${PRICE}) AS n FROM events WHERE $scan AND event_type = 'purchase' GROUP BY c ORDER BY n DESC, c`,
  },
  {
    text: 'purchase | $range | where event_properties.price > 150 | count',
    sql: `SELECT count() FROM events WHERE $scan AND event_type = 'purchase' AND ${PRICE} > 150`,
  },
  {
    text: 'purchase | $range | p95 event_properties.price',
    sql: `SELECT quantileExactInclusive(0.95)(${PRICE}) FROM events WHERE $scan AND event_type = 'purchase'`,
  },
  {
    text: 'purchase | $range | median event_properties.price by _country | top 5',
    sql: `SELECT geo_country, quantileExactInclusive(0.5)(${PRICE}) AS n FROM events WHERE $scan AND event_type = 'purchase' GROUP BY geo_country ORDER BY n DESC, geo_country LIMIT 5`,
  },
  {
    text: 'page_view | $range | count by _path | top 10',
    sql: `SELECT path, count() AS n FROM events WHERE $scan AND event_type = 'page_view' GROUP BY path ORDER BY n DESC, path LIMIT 10`,
  },
  {
    text: '* | $range | where _country = "DE" | count by day',
    sql: `SELECT toDate(time) AS d, count() FROM events WHERE $scan AND geo_country = 'DE' GROUP BY d ORDER BY d`,
  },
  {
    text: 'page_view | $range | where _browser in ("Chrome", "Firefox") and _device_type != "bot" | count by _browser',
    sql: `SELECT browser, count() AS n FROM events WHERE $scan AND event_type = 'page_view' AND browser IN ('Chrome', 'Firefox') AND device_type != 'bot' GROUP BY browser ORDER BY n DESC, browser`,
  },
  {
    text: '* | $range | where event_properties.plan = "pro" | unique user_id',
    sql: `SELECT uniqExactIf(user_hash, user_hash != 0) FROM events WHERE $scan AND ep_str['plan'] = 'pro'`,
  },
  {
    text: 'page_view | $range | where _path contains "/products/" | count by day',
    sql: `SELECT toDate(time) AS d, count() FROM events WHERE $scan AND event_type = 'page_view' AND position(path, '/products/') > 0 GROUP BY d ORDER BY d`,
  },
  {
    text: 'add_to_cart | $range | where event_properties.logged_in = true or event_properties.quantity >= 4 | count by _city',
    sql: `SELECT geo_city, count() AS n FROM events WHERE $scan AND event_type = 'add_to_cart' AND (ep_bool['logged_in'] OR ep_num['quantity'] >= 4) GROUP BY geo_city ORDER BY n DESC, geo_city`,
  },
];

export function toQueryCases({ projectId, from, to }: QueryRange): QueryCase[] {
  const scan = `project_id = '$project' AND time >= toDateTime64('$from', 3, 'UTC') AND time < toDateTime64('$to', 3, 'UTC')`;
  const fill = (text: string) =>
    text
      .replaceAll('$scan', scan)
      .replaceAll('$range', `from ${from} to ${to}`)
      .replaceAll('$from', `${from} 00:00:00`)
      .replaceAll('$to', `${to} 00:00:00`)
      .replaceAll('$project', projectId);
  return CASES.map(({ text, sql }) => ({ text: fill(text), sql: fill(sql) }));
}
