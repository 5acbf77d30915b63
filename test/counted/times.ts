import * as c from './counting.js';
import {
  AUTUMN,
  at,
  autumn,
  BERLIN,
  by,
  country,
  filled,
  is,
  KATHMANDU,
  LORD_HOWE,
  NEW_YORK,
  NOW,
  people,
  plan,
  price,
  prices,
  prop,
  type Question,
  questionsOf,
  size,
  within,
} from './questions.js';

export const TIMES: Question[] = [];
const q = questionsOf(TIMES);

q(
  '* | from 2026-10-24 to 2026-10-27 | count by hour',
  () => filled(at('2026-10-24', BERLIN), at('2026-10-27', BERLIN), 'hour', BERLIN, size),
  BERLIN,
);
q(
  '* | from "2026-10-25 00:00" to "2026-10-25 04:00" | count by minute',
  () => filled(at('2026-10-25', BERLIN), at('2026-10-25 04:00', BERLIN), 'minute', BERLIN, size),
  BERLIN,
);
q(
  '* | from 2026-10-31 to 2026-11-03 | unique by hour_of_day',
  () => filled(at('2026-10-31', NEW_YORK), at('2026-11-03', NEW_YORK), 'hour_of_day', NEW_YORK, people),
  NEW_YORK,
);
q(
  '* | from 2026-10-03 to 2026-10-06 | unique by hour',
  () => filled(at('2026-10-03', LORD_HOWE), at('2026-10-06', LORD_HOWE), 'hour', LORD_HOWE, people),
  LORD_HOWE,
);
q(
  '* | last 3d | sum price by hour',
  () => filled(Date.parse(NOW) - 3 * c.DAY, Date.parse(NOW), 'hour', KATHMANDU, (own) => c.sum(prices(own))),
  KATHMANDU,
);
q(
  '* | last week | count by weekday',
  () => filled(at('2026-10-19', NEW_YORK), at('2026-10-26', NEW_YORK), 'weekday', NEW_YORK, size),
  NEW_YORK,
  '2026-11-01T06:30:00.000Z',
);
q(
  '* | last month | unique by week',
  () => filled(at('2026-10-01', BERLIN), at('2026-11-01', BERLIN), 'week', BERLIN, people),
  BERLIN,
);
q(
  '* | this quarter | count by month',
  () => filled(at('2026-10-01', LORD_HOWE), Date.parse(NOW), 'month', LORD_HOWE, size),
  LORD_HOWE,
);
q(
  '* | last 3 months | unique by month',
  () => filled(Date.parse('2026-08-30T01:30:00Z'), Date.parse('2026-11-30T01:30:00Z'), 'month', BERLIN, people),
  BERLIN,
  '2026-11-30T01:30:00.000Z',
);
q(
  '* | last 1d | count by hour',
  () => filled(Date.parse('2026-10-24T01:30:00Z'), Date.parse('2026-10-25T01:30:00Z'), 'hour', BERLIN, size),
  BERLIN,
  '2026-10-25T01:30:00.000Z',
);
q(
  '* | last quarter | count by week',
  () => filled(at('2026-07-01', BERLIN), at('2026-10-01', BERLIN), 'week', BERLIN, size),
  BERLIN,
);
q(
  '* | last year | count by quarter',
  () => filled(at('2025-01-01', BERLIN), at('2026-01-01', BERLIN), 'quarter', BERLIN, size),
  BERLIN,
);
q(
  '* | from "2026-10-25 02:30" to "2026-10-25 03:00" | count',
  () => [[size(within(Date.parse('2026-10-25T00:30:00Z'), Date.parse('2026-10-25T02:00:00Z')))]],
  BERLIN,
);
q(
  '* | today | count by hour',
  () => filled(at('2026-11-01', NEW_YORK), Date.parse('2026-11-01T06:30:00Z'), 'hour', NEW_YORK, size),
  NEW_YORK,
  '2026-11-01T06:30:00.000Z',
);
q(
  '* | yesterday | count by hour',
  () => filled(at('2026-10-25', BERLIN), at('2026-10-26', BERLIN), 'hour', BERLIN, size),
  BERLIN,
  '2026-10-26T10:00:00.000Z',
);
q(
  '* | since 2026-11-01 | count by week, day',
  () =>
    c.ascending(
      by(
        within(at('2026-11-01', NEW_YORK), Date.parse(NOW)),
        (e) => [c.bucketOf(e.time, 'week', NEW_YORK), c.bucketOf(e.time, 'day', NEW_YORK)],
        size,
      ),
    ),
  NEW_YORK,
);
// aggregates
for (const [name, level] of [
  ['median', 0.5],
  ['p95', 0.95],
] as const) {
  q(`purchase | ${AUTUMN} | ${name} price by event_properties.plan`, () =>
    c.byMetric(
      by(
        autumn('UTC', is('purchase')),
        (e) => [plan(e)],
        (own) => c.quantile(prices(own), level),
      ),
    ),
  );
}
q(
  `purchase | ${AUTUMN} | median price by day`,
  () =>
    filled(
      at('2026-10-01', BERLIN),
      at('2026-11-10', BERLIN),
      'day',
      BERLIN,
      (own) => c.quantile(prices(own), 0.5),
      is('purchase'),
    ),
  BERLIN,
);
q(`* | ${AUTUMN} | count by event_properties.plan`, () => c.byMetric(by(autumn('UTC'), (e) => [plan(e)], size)));
q(`* | ${AUTUMN} | count by event_properties.plan | sort event_properties.plan`, () =>
  c.ascending(by(autumn('UTC'), (e) => [plan(e)], size)),
);
q(
  `* | ${AUTUMN} | unique event_properties.plan by week`,
  () =>
    filled(at('2026-10-01', NEW_YORK), at('2026-11-10', NEW_YORK), 'week', NEW_YORK, (own) =>
      c.distinct(own.map(plan)),
    ),
  NEW_YORK,
);
q(`* | ${AUTUMN} | where event_properties.plan in (5, true, "pro") | count by event_properties.plan`, () =>
  c.byMetric(
    by(
      autumn('UTC', (e) => ['5', 'true', 'pro', '1'].includes(plan(e) ?? '-')),
      (e) => [plan(e)],
      size,
    ),
  ),
);
q(
  `* | ${AUTUMN} | where event_properties.plan not in ("pro", "free") and event_properties.price exists | count`,
  () => [
    [
      size(
        autumn('UTC', (e) => !['pro', 'free'].includes(plan(e) ?? '-') && (c.textOf(prop('price')(e)) ?? '') !== ''),
      ),
    ],
  ],
);
const tests: [string, (v: string | null, raw: unknown) => boolean][] = [
  ['plan contains "r"', (v) => v?.includes('r') ?? false],
  ['plan not contains "r"', (v) => !v?.includes('r')],
  ['plan ~ "^[pP]r"', (v) => /^[pP]r/.test(v ?? '')],
  ['plan !~ "(?i)^PRO$"', (v) => !/^pro$/i.test(v ?? '')],
  ['plan ~ "ï.\\\\."', (v) => /ï.\./.test(v ?? '')],
  ['plan starts with "{"', (v) => v?.startsWith('{') ?? false],
  ['plan not ends with "o"', (v) => !v?.endsWith('o')],
  ['plan = "Pro"', (v) => v === 'Pro'],
  ['plan = ""', (v) => v === ''],
  ['plan != ""', (v) => v !== ''],
  ['plan exists', (v) => v !== null && v !== ''],
  ['plan not exists', (v) => v === null || v === ''],
  ['plan = 5', (v) => v === '5'],
  ['plan = "5"', (v) => v === '5'],
  ['plan = true', (v) => v === 'true' || v === '1'],
  ['plan != true', (v) => v !== 'true' && v !== '1'],
  ['plan > 3', (v) => v === '5'],
  ['plan > "a"', (v) => v !== null && c.compareTexts(v, 'a') > 0],
  ['not (plan = 5 or plan contains "r") and _country not in ("DE", "US")', (v) => v !== '5' && !v?.includes('r')],
];
for (const [text, holds] of tests) {
  q(`* | ${AUTUMN} | where ${text.replaceAll('plan', 'event_properties.plan')} | count`, () => [
    [
      size(
        autumn(
          'UTC',
          (e) =>
            holds(plan(e), prop('plan')(e)) && (!text.includes('_country') || !['DE', 'US'].includes(country(e) ?? '')),
        ),
      ),
    ],
  ]);
}
for (const [op, holds] of [
  ['= 12.5', (n: number) => n === 12.5],
  ['>= 10', (n: number) => n >= 10],
  ['< 0', (n: number) => n < 0],
  ['in (0, 5, 40)', (n: number) => [0, 5, 40].includes(n)],
] as const) {
  q(`* | ${AUTUMN} | where event_properties.price ${op} | sum price by _country, event_type`, () =>
    c.byMetric(
      by(
        autumn('UTC', (e) => {
          const n = price(e);
          return n !== undefined && holds(n);
        }),
        (e) => [country(e), e.event_type],
        (own) => c.sum(prices(own)),
      ),
    ),
  );
}
q(`* | ${AUTUMN} | count by bucket(price, 2.5)`, () =>
  c.ascending(
    by(
      autumn('UTC'),
      (e) => {
        const n = price(e);
        return [n === undefined ? null : Math.floor(n / 2.5) * 2.5];
      },
      size,
    ),
  ),
);
q(
  `* | ${AUTUMN} | max price by bucket(price, 10), week`,
  () =>
    c.ascending(
      by(
        autumn(BERLIN),
        (e) => {
          const n = price(e);
          return [n === undefined ? null : Math.floor(n / 10) * 10, c.bucketOf(e.time, 'week', BERLIN)];
        },
        (own) => {
          const all = prices(own);
          return all.length ? Math.max(...all) : null;
        },
      ),
    ),
  BERLIN,
);
q(`* | ${AUTUMN} | avg price by _country | where average > 5 and _country != "DE"`, () =>
  c
    .byMetric(
      by(
        autumn('UTC'),
        (e) => [country(e)],
        (own) => c.average(prices(own)),
      ),
    )
    .filter(([group, value]) => Number(value) > 5 && group !== 'DE'),
);

// Months back, a day that the earlier month does not have is its last one.
for (const [range, from, to, earlierFrom, earlierTo] of [
  ['from 2026-10-31 to 2026-11-01', '2026-10-31', '2026-11-01', '2026-09-30', '2026-10-01'],
  ['from 2026-10-30 to 2026-10-31', '2026-10-30', '2026-10-31', '2026-09-30', '2026-10-01'],
  ['from 2026-10-29 to 2026-11-02', '2026-10-29', '2026-11-02', '2026-09-29', '2026-10-02'],
] as const) {
  for (const zone of [KATHMANDU, LORD_HOWE]) {
    const countOf = (a: string, b: string) => within(at(a, zone), at(b, zone)).length;
    q(
      `* | ${range} | count | compare 1mo`,
      () => {
        const [now, before] = [countOf(from, to), countOf(earlierFrom, earlierTo)];
        return [[now, before, c.change(now, before)]];
      },
      zone,
    );
  }
}
