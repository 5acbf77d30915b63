// Aggregates of aggregates, windows, shares, groups of the rest, and comparisons of ranges.
import type { Event } from '../oracle/history.js';
import * as c from './counting.js';
import {
  A0,
  A1,
  AUTUMN,
  account,
  at,
  BERLIN,
  by,
  country,
  day,
  filled,
  inAutumn,
  is,
  LORD_HOWE,
  NEW_YORK,
  people,
  plan,
  prices,
  type Question,
  questionsOf,
  type Rows,
  size,
  w,
  week,
  within,
} from './questions.js';

export const WINDOWS: Question[] = [];
const q = questionsOf(WINDOWS);

// per
q(
  `purchase | ${AUTUMN} | count per distinct_id | where count >= 2 | p90 count by _country`,
  () => {
    const pairs = c
      .groupBy(
        inAutumn(is('purchase')).filter((e) => w.person(e) !== null),
        (e) => [country(e), w.person(e)],
      )
      .filter(([, own]) => own.length >= 2);
    return c.byMetric(
      c
        .groupBy(pairs, ([[group]]) => [group ?? null])
        .map(([key, own]) => [
          ...key,
          c.quantile(
            own.map(([, events]) => events.length),
            0.9,
          ),
        ]),
    );
  },
  BERLIN,
);
q(
  `* | ${AUTUMN} | sum price per session_id | avg total by day | where average > 5`,
  () => {
    const sums = c
      .groupBy(
        inAutumn((e) => e.session_id !== null),
        (e) => [day(e), e.session_id],
      )
      .map(([[d], own]) => ({ d: d ?? null, total: c.sum(prices(own)) }));
    return c
      .bucketsOf(A0, A1, 'day', BERLIN)
      .map((d): c.Row => [d, c.average(sums.filter((one) => one.d === d).map(({ total }) => total))])
      .filter(([, value]) => Number(value) > 5);
  },
  BERLIN,
);
q(
  `* | ${AUTUMN} | unique event_type per distinct_id | where unique_count > 2 | count by week | where count > 1`,
  () => {
    const kinds = c
      .groupBy(
        inAutumn((e) => w.person(e) !== null),
        (e) => [week(e), w.person(e)],
      )
      .filter(([, own]) => c.distinct(own.map((e) => e.event_type)) > 2);
    return c
      .bucketsOf(A0, A1, 'week', BERLIN)
      .map((d): c.Row => [d, kinds.filter(([[one]]) => one === d).length])
      .filter(([, n]) => Number(n) > 1);
  },
  BERLIN,
);
q(
  `* | ${AUTUMN} | count per event_properties.plan | max count by weekday`,
  () => {
    const sizes = c.groupBy(
      inAutumn((e) => (plan(e) ?? '') !== ''),
      (e) => [c.bucketOf(e.time, 'weekday', BERLIN), plan(e)],
    );
    return [1, 2, 3, 4, 5, 6, 7].map((d) => {
      const all = sizes.filter(([[one]]) => one === d).map(([, own]) => own.length);
      return [d, all.length ? Math.max(...all) : null];
    });
  },
  BERLIN,
);
q(
  `purchase | ${AUTUMN} | avg price per distinct_id | where average < 10 | count`,
  () => [
    [
      c
        .groupBy(
          inAutumn(is('purchase')).filter((e) => w.person(e) !== null),
          (e) => [w.person(e)],
        )
        .filter(([, own]) => {
          const a = c.average(prices(own));
          return a !== null && a < 10;
        }).length,
    ],
  ],
  BERLIN,
);
// windows
const rolled = (
  days: number,
  unit: c.Unit,
  from: number,
  to: number,
  zone: string,
  measure: (own: Event[]) => c.Cell,
  isWanted?: (e: Event) => boolean,
): Rows =>
  c.bucketsOf(from, to, unit, zone).map((bucket) => {
    const length = { day: 'day', week: 'week', month: 'month' }[unit as string] as 'day' | 'week' | 'month';
    const end = Math.min(c.periodStart(c.instant(String(bucket), zone), length, zone, 1), to);
    return [bucket, measure(within(c.dayStart(end - 1, 1 - days, zone), end, isWanted))];
  });
for (const zone of [BERLIN, LORD_HOWE]) {
  const [from, to] = [at('2026-10-20', zone), at('2026-11-05', zone)];
  q(
    '* | from 2026-10-20 to 2026-11-05 | unique by day | rolling 3d',
    () => rolled(3, 'day', from, to, zone, people),
    zone,
  );
  q(
    '* | from 2026-10-20 to 2026-11-05 | unique by week | rolling 10d',
    () => rolled(10, 'week', from, to, zone, people),
    zone,
  );
  q(
    'purchase | from 2026-10-20 to 2026-11-05 | avg price by day | rolling 2d',
    () => rolled(2, 'day', from, to, zone, (own) => c.average(prices(own)), is('purchase')),
    zone,
  );
  q(
    'purchase | from 2026-10-20 to 2026-11-05 | min price by month | rolling 45d',
    () =>
      rolled(
        45,
        'month',
        from,
        to,
        zone,
        (own) => {
          const all = prices(own);
          return all.length ? Math.min(...all) : null;
        },
        is('purchase'),
      ),
    zone,
  );
  q(
    '* | from 2026-10-20 to 2026-11-05 | unique by week | cumulative',
    () =>
      c
        .bucketsOf(from, to, 'week', zone)
        .map((bucket) => [
          bucket,
          people(within(from, Math.min(to, c.periodStart(at(String(bucket), zone), 'week', zone, 1)))),
        ]),
    zone,
  );
}
q(
  '* | from 2026-10-20 to 2026-11-05 | unique by day, _country | rolling 2d',
  () => {
    const [from, to] = [at('2026-10-20', BERLIN), at('2026-11-05', BERLIN)];
    const rows = c.bucketsOf(from, to, 'day', BERLIN).flatMap((d) => {
      const start = at(String(d), BERLIN);
      return by(within(c.dayStart(start, -1, BERLIN), c.dayStart(start, 1, BERLIN)), (e) => [d, country(e)], people);
    });
    return c.groupBy(rows as c.Row[], ([d]) => [d as string]).flatMap(([, own]) => c.byMetric(own));
  },
  BERLIN,
);
q(
  `* | ${AUTUMN} | unique by week, _country | share | where share > 0.4`,
  () => {
    const rows = c
      .groupBy(inAutumn(), (e) => [week(e)])
      .sort()
      .flatMap(([[d = null], own]) =>
        c
          .byMetric(by(own, (e) => [d, country(e)], people))
          .map((row) => [...row, c.ratio(Number(row[2]), people(own))]),
      );
    return rows.filter((row) => Number(row[3]) > 0.4);
  },
  BERLIN,
);
q(
  `* | ${AUTUMN} | sum price by _country | share | top 2`,
  () => {
    const rows = by(
      inAutumn(),
      (e) => [country(e)],
      (own) => c.sum(prices(own)),
    );
    return c
      .byMetric(rows)
      .slice(0, 2)
      .map((row) => [...row, c.ratio(Number(row[1]), c.sum(prices(inAutumn())))]);
  },
  BERLIN,
);
// top other
const withOther = (
  events: readonly Event[],
  keyOf: (e: Event) => c.Cell,
  n: number,
  measure: (own: Event[]) => c.Cell,
): c.Row[] => {
  const rows = c.byMetric(by(events, (e) => [keyOf(e)], measure));
  const shown = rows.slice(0, n).map(([key]) => key ?? null);
  const rest = events.filter((e) => !shown.includes(keyOf(e)));
  return rest.length === 0 ? rows : [...rows.slice(0, n), ['(other)', measure([...rest])]];
};
q(`* | ${AUTUMN} | unique by _country | top 2 other`, () => withOther(inAutumn(), country, 2, people), BERLIN);
q(
  `* | ${AUTUMN} | unique by event_properties.plan | top 3 other`,
  () => withOther(inAutumn(), plan, 3, people),
  BERLIN,
);
q(
  `* | ${AUTUMN} | count by event_properties.account | top 9 other`,
  () => withOther(inAutumn(), account, 9, size),
  BERLIN,
);
q(
  `purchase | ${AUTUMN} | median price by event_properties.plan | top 2 other`,
  () => withOther(inAutumn(is('purchase')), plan, 2, (own) => c.quantile(prices(own), 0.5)),
  BERLIN,
);
// compare
const compared = (now: Rows, before: Rows, groups: number, none: c.Cell): c.Row[] => {
  const keyed = (rows: Rows) => new Map(rows.map((row) => [JSON.stringify(row.slice(0, groups)), row]));
  const [a, b] = [keyed(now), keyed(before)];
  return [...new Set([...a.keys(), ...b.keys()])].map((key) => {
    const [x, y] = [a.get(key)?.[groups] ?? none, b.get(key)?.[groups] ?? none];
    return [...(JSON.parse(key) as c.Cell[]), x as c.Cell, y as c.Cell, c.change(x as number, y as number)];
  });
};
const positions = (now: Rows, before: Rows): c.Row[] =>
  now.map(([bucket = null, value = null], index) => {
    const [earlier = null, old = null] = before[index] ?? [];
    return [bucket, earlier, value, old, before[index] === undefined ? null : c.change(value as number, old as number)];
  });
const LATE = '2026-10-31T12:00:00.000Z';
q(
  '* | this month | count by day | compare previous',
  () =>
    positions(
      filled(at('2026-10-01', BERLIN), Date.parse(LATE), 'day', BERLIN, size),
      filled(at('2026-09-01', BERLIN), at('2026-10-01', BERLIN), 'day', BERLIN, size),
    ),
  BERLIN,
  LATE,
);
q(
  '* | this month | unique by week | compare 1mo',
  () =>
    positions(
      filled(at('2026-10-01', BERLIN), Date.parse(LATE), 'week', BERLIN, people),
      filled(at('2026-09-01', BERLIN), at('2026-09-30 13:00', BERLIN), 'week', BERLIN, people),
    ),
  BERLIN,
  LATE,
);
q(
  '* | last month | count by day | compare previous',
  () =>
    positions(
      filled(at('2026-10-01', NEW_YORK), at('2026-11-01', NEW_YORK), 'day', NEW_YORK, size),
      filled(at('2026-09-01', NEW_YORK), at('2026-10-01', NEW_YORK), 'day', NEW_YORK, size),
    ),
  NEW_YORK,
);
q(
  '* | last week | count | compare previous',
  () =>
    compared(
      [[size(within(at('2026-11-16', NEW_YORK), at('2026-11-23', NEW_YORK)))]],
      [[size(within(at('2026-11-09', NEW_YORK), at('2026-11-16', NEW_YORK)))]],
      0,
      0,
    ),
  NEW_YORK,
);
q(
  '* | yesterday | count by hour | compare weekdays',
  () =>
    positions(
      filled(at('2026-10-25', BERLIN), at('2026-10-26', BERLIN), 'hour', BERLIN, size),
      filled(at('2026-10-18', BERLIN), at('2026-10-19', BERLIN), 'hour', BERLIN, size),
    ),
  BERLIN,
  '2026-10-26T10:00:00.000Z',
);
q(
  '* | yesterday | count by hour | compare previous',
  () =>
    positions(
      filled(at('2026-11-01', NEW_YORK), at('2026-11-02', NEW_YORK), 'hour', NEW_YORK, size),
      filled(at('2026-10-31', NEW_YORK), at('2026-11-01', NEW_YORK), 'hour', NEW_YORK, size),
    ),
  NEW_YORK,
  '2026-11-02T12:00:00.000Z',
);
q(
  '* | from 2026-11-01 to 2026-11-05 | unique by _country | compare previous',
  () =>
    c.byMetric(
      compared(
        by(within(at('2026-11-01', NEW_YORK), at('2026-11-05', NEW_YORK)), (e) => [country(e)], people),
        by(within(at('2026-10-28', NEW_YORK), at('2026-11-01', NEW_YORK)), (e) => [country(e)], people),
        1,
        0,
      ),
      1,
    ),
  NEW_YORK,
);
q(
  '* | from 2026-10-31 to 2026-11-01 | avg price by event_properties.plan | compare 1d | sort change, event_properties.plan',
  () => {
    const of = (d: string, e: string) =>
      by(
        within(at(d, BERLIN), at(e, BERLIN)),
        (one) => [plan(one)],
        (own) => c.average(prices(own)),
      );
    return [...c.ascending(compared(of('2026-10-31', '2026-11-01'), of('2026-10-30', '2026-10-31'), 1, null))].sort(
      (a, b) => (a[3] === b[3] ? 0 : a[3] === null ? 1 : b[3] === null ? -1 : Number(b[3]) - Number(a[3])),
    );
  },
  BERLIN,
);
q(
  '* | from 2026-10-20 to 2026-11-03 | unique by weekday | compare weekdays',
  () =>
    compared(
      filled(at('2026-10-20', BERLIN), at('2026-11-03', BERLIN), 'weekday', BERLIN, people),
      filled(at('2026-10-06', BERLIN), at('2026-10-20', BERLIN), 'weekday', BERLIN, people),
      1,
      0,
    ),
  BERLIN,
);
q(
  '* | from 2026-10-20 to 2026-10-28 | sum price by day, _country | compare 2w | where previous > 0',
  () => {
    const of = (from: string, to: string, shift: number) =>
      by(
        within(at(from, BERLIN), at(to, BERLIN)),
        (e) => [c.bucketOf(c.dayStart(e.time, shift, BERLIN), 'day', BERLIN), country(e)],
        (own) => c.sum(prices(own)),
      );
    const rows = compared(of('2026-10-20', '2026-10-28', 0), of('2026-10-06', '2026-10-14', 14), 2, 0).map(
      ([d = null, g = null, v = null, p = null, ch = null]): c.Row => [
        d,
        g,
        c.bucketOf(c.dayStart(at(String(d), BERLIN), -14, BERLIN), 'day', BERLIN),
        v,
        p,
        ch,
      ],
    );
    return c
      .groupBy(c.ascending(rows) as c.Row[], ([d]) => [d as string])
      .flatMap(([, own]) => c.byMetric(own, 3))
      .filter((row) => Number(row[4]) > 0);
  },
  BERLIN,
);
