// Cost of exact counts during ingestion: the service's SQL for a monthly count, count by day and
// sum, alternating with the same SQL on a plain table with the same rows.
import { setTimeout as sleep } from 'node:timers/promises';
import { compileFor, runStatement, type Statement } from './compiled-query.js';
import { Load } from './load/load.js';
import { atMost, type Measurement } from './measurement.js';
import { toEventInserts } from './query-data.js';
import { type BenchContext, type Stack, selectNumber } from './stack.js';
import { median } from './statistics.js';

const QUESTIONS: Readonly<Record<string, string>> = {
  'count of 30 days': '* | last 30d | count',
  'count by day of 30 days': '* | last 30d | count by day',
  'sum of 30 days': 'purchase | last 30d | sum event_properties.price',
};
const STREAMED_PER_SECOND = 2000;
const EVENTS_PER_REQUEST = 200;

export async function benchExact({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  say('exact: filling both tables');
  await fill(stack, isQuick ? 300_000 : 2_000_000);
  const load = await Load.start({
    url: stack.url,
    key: stack.publicKey,
    eventsPerRequest: EVENTS_PER_REQUEST,
    connections: 2,
    bodies: 200,
  });
  try {
    const warmUpMs = isQuick ? 3000 : 20_000;
    const countedMs = isQuick ? 5000 : 40_000;
    const count = async () => {
      say('exact: warming up while events stream in');
      await compare(stack, warmUpMs);
      say('exact: counting while events stream in');
      return compare(stack, countedMs);
    };
    const streaming = load.run({ durationMs: warmUpMs + countedMs, eventsMax: 1_000_000 });
    const pacer = pace(load);
    const [times] = await Promise.all([count(), streaming]).finally(() => clearInterval(pacer));
    await requireEqual(stack);
    return [...times].flatMap(([name, { exact, plain }]) => [
      { name: `${name}: exact`, value: median(exact), unit: 'ms' },
      { name: `${name}: plain table`, value: median(plain), unit: 'ms' },
      { name: `${name}: ratio`, value: median(exact) / median(plain), unit: '', aim: atMost(1.1) },
    ]);
  } finally {
    await load.stop();
  }
}

/**
 * A plain MergeTree table without de-duplication and projection, filled first and then fed with the
 * same inserts.
 */
async function fill(stack: Stack, events: number): Promise<void> {
  const run = (query: string) => stack.clickhouse.command({ query });
  for (const insert of toEventInserts({ projectId: stack.projectId, events, days: 60, untilMs: Date.now() })) {
    await stack.clickhouse.command(insert);
  }
  await run(`CREATE TABLE events_plain AS events ENGINE = MergeTree PARTITION BY toYYYYMM(time)
    PRIMARY KEY (project_id, event_type, time) ORDER BY (project_id, event_type, time, insert_id)`);
  await run('ALTER TABLE events_plain DROP PROJECTION p_hour');
  await run('INSERT INTO events_plain SELECT * FROM events');
  await run('CREATE MATERIALIZED VIEW events_plain_feed TO events_plain AS SELECT * FROM events');
}

/** Raises the number of events that may be sent every tenth of a second. */
function pace(load: Load): NodeJS.Timeout {
  const startedMs = performance.now();
  const allow = () => load.allow(Math.ceil(((performance.now() - startedMs) / 1000) * STREAMED_PER_SECOND));
  allow();
  return setInterval(allow, 100);
}

interface Times {
  readonly exact: number[];
  readonly plain: number[];
}

async function compare(stack: Stack, durationMs: number): Promise<ReadonlyMap<string, Times>> {
  const times = new Map(Object.keys(QUESTIONS).map((name): [string, Times] => [name, { exact: [], plain: [] }]));
  const startedMs = performance.now();
  while (performance.now() - startedMs < durationMs) {
    for (const [name, text] of Object.entries(QUESTIONS)) {
      const exact = compileFor(stack, text);
      times.get(name)?.exact.push((await runStatement(stack, exact)).elapsedMs);
      times.get(name)?.plain.push((await runStatement(stack, onPlainTable(exact))).elapsedMs);
    }
    // Pause: the measurement is about ingestion beside queries, not about a saturated engine.
    await sleep(50);
  }
  return times;
}

const onPlainTable = ({ sql, params }: Statement): Statement => ({
  sql: sql.replace(/\bFROM\s+events\b/g, 'FROM events_plain'),
  params,
});

/** Throws when the tables differ, because the comparison would be meaningless. */
async function requireEqual(stack: Stack): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const exact = await selectNumber(stack, 'SELECT count() FROM events');
    const plain = await selectNumber(stack, 'SELECT count() FROM events_plain');
    if (exact === plain && attempt > 0) return;
    if (attempt === 100) throw new Error(`events has ${exact} rows, the plain table ${plain}`);
    await sleep(100);
  }
}
