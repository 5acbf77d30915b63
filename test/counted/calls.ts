// Calls in conditions, formulas, and lists.
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
  filled,
  inAutumn,
  is,
  NEW_YORK,
  own,
  ownCount,
  path,
  people,
  plan,
  price,
  prices,
  prop,
  type Question,
  questionsOf,
  size,
  w,
  week,
  within,
} from './questions.js';

export const CALLS: Question[] = [];
const q = questionsOf(CALLS);

q(
  `* | ${AUTUMN} | where count(purchase[price > 10] last 7d) >= 1 and count(refund) < 5 | unique by week`,
  () =>
    filled(
      A0,
      A1,
      'week',
      BERLIN,
      people,
      (e) =>
        ownCount(e, (o) => o.event_type === 'purchase' && Number(price(o) ?? 0) > 10, c.dayStart(A1, -7, BERLIN), A1)
          .length >= 1 && ownCount(e, is('refund'), A0, A1).length < 5,
    ),
  BERLIN,
);
q(
  `page_view | ${AUTUMN} | where count(signup per session_id) > 0 and not (sum(purchase, price) > 60) | count by _path`,
  () =>
    c.byMetric(
      by(
        inAutumn(
          (e) =>
            e.event_type === 'page_view' &&
            e.session_id !== null &&
            inAutumn((o) => o.event_type === 'signup' && o.session_id === e.session_id).length > 0 &&
            !(c.sum(prices(ownCount(e, is('purchase'), A0, A1))) > 60),
        ),
        (e) => [path(e)],
        size,
      ),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | where avg(purchase, price per event_properties.account) > 9 or max(refund, price) = 40 | unique by event_properties.account`,
  () =>
    c.byMetric(
      by(
        inAutumn((e) => {
          const a = account(e);
          const avg =
            a === null ? null : c.average(prices(inAutumn((o) => o.event_type === 'purchase' && account(o) === a)));
          return (avg !== null && avg > 9) || Math.max(...prices(ownCount(e, is('refund'), A0, A1))) === 40;
        }),
        (e) => [account(e)],
        people,
      ),
    ),
  BERLIN,
);
q(
  `* | from 2026-10-26 to 2026-11-02 | where count(purchase) >= 2 | unique | compare previous`,
  () => {
    const n = (a: string, b: string) => {
      const [f, t] = [at(a, NEW_YORK), at(b, NEW_YORK)];
      return people(within(f, t, (e) => ownCount(e, is('purchase'), f, t).length >= 2));
    };
    const [x, y] = [n('2026-10-26', '2026-11-02'), n('2026-10-19', '2026-10-26')];
    return [[x, y, c.change(x, y)]];
  },
  NEW_YORK,
);
q(
  `purchase | from 2026-10-26 to 2026-11-02 | where count(signup last 3d) = 0 | count per distinct_id | where count > 1 | avg count`,
  () => {
    const [f, t] = [at('2026-10-26', NEW_YORK), at('2026-11-02', NEW_YORK)];
    return [
      [
        c.average(
          [
            ...own(
              within(
                f,
                t,
                (e) =>
                  e.event_type === 'purchase' && ownCount(e, is('signup'), c.dayStart(t, -3, NEW_YORK), t).length === 0,
              ),
            ).values(),
          ]
            .map((a) => a.length)
            .filter((n) => n > 1),
        ),
      ],
    ];
  },
  NEW_YORK,
);

const F = (e: readonly Event[], ...types: string[]) => e.filter(is(...types));
q(
  `formula count(purchase) / count(refund) as r, unique(* last 7d) as people by day | from 2026-10-24 to 2026-11-03`,
  () => {
    const [f, t] = [at('2026-10-24', NEW_YORK), at('2026-11-03', NEW_YORK)];
    return c.bucketsOf(f, t, 'day', NEW_YORK).map((d) => {
      const s = at(String(d), NEW_YORK);
      const e = c.dayStart(s, 1, NEW_YORK);
      const all = within(s, e);
      return [
        d,
        c.ratio(F(all, 'purchase').length, F(all, 'refund').length),
        people(within(c.dayStart(s, -6, NEW_YORK), e)),
      ];
    });
  },
  NEW_YORK,
);
q(
  `formula (sum(purchase, price) - sum(refund, price)) / (count(purchase) - count(refund)) as v, unique(signup) by _country | ${AUTUMN} | where v > 0`,
  () =>
    c
      .byMetric(
        c
          .groupBy(inAutumn(is('purchase', 'refund', 'signup')), (e) => [country(e)])
          .map(
            ([k, all]): c.Row => [
              ...k,
              c.ratio(
                c.sum(prices(F(all, 'purchase'))) - c.sum(prices(F(all, 'refund'))),
                F(all, 'purchase').length - F(all, 'refund').length,
              ),
              people(F(all, 'signup')),
            ],
          ),
        1,
      )
      .filter((row) => Number(row[1]) > 0),
  BERLIN,
);
q(
  `formula avg(purchase, price) / (count("export data") - 2) as v by event_properties.plan | ${AUTUMN}`,
  () =>
    c.byMetric(
      c
        .groupBy(inAutumn(is('purchase', 'export data')), (e) => [plan(e)])
        .map(([k, all]): c.Row => {
          const [a, n] = [c.average(prices(F(all, 'purchase'))), F(all, 'export data').length - 2];
          return [...k, a === null || n === 0 ? null : a / n];
        }),
    ),
  BERLIN,
);
q(
  `formula unique(purchase, event_properties.account) * 2 - 1 as v, count(* last 1mo) as c by month | from 2026-09-15 to 2026-11-20`,
  () => {
    const [f, t] = [at('2026-09-15', BERLIN), at('2026-11-20', BERLIN)];
    return c.bucketsOf(f, t, 'month', BERLIN).map((m) => {
      const s = at(String(m), BERLIN);
      const e = Math.min(t, c.periodStart(s, 'month', BERLIN, 1));
      const from = e === t ? at('2026-10-20', BERLIN) : s;
      return [m, c.distinct(within(Math.max(f, s), e, is('purchase')).map(account)) * 2 - 1, size(within(from, e))];
    });
  },
  BERLIN,
);
q(
  `formula count(purchase) / count(*) as share by week, _country | ${AUTUMN} | where share > 0.3`,
  () =>
    c
      .groupBy(inAutumn(), (e) => [week(e)])
      .sort()
      .flatMap(([[d = null], all]) =>
        c.byMetric(
          c
            .groupBy(all, (e) => [country(e)])
            .map(([k, o]): c.Row => [d, ...k, c.ratio(F(o, 'purchase').length, o.length)]),
        ),
      )
      .filter((row) => Number(row[2]) > 0.3),
  BERLIN,
);
q(
  `formula count(purchase) - count(refund) as net | this month | compare previous`,
  () => {
    const n = (f: number, t: number) => F(within(f, t), 'purchase').length - F(within(f, t), 'refund').length;
    const [x, y] = [
      n(at('2026-10-01', BERLIN), Date.parse('2026-10-31T12:00:00Z')),
      n(at('2026-09-01', BERLIN), at('2026-10-01', BERLIN)),
    ];
    return [[x, y, c.change(x, y)]];
  },
  BERLIN,
  '2026-10-31T12:00:00.000Z',
);
q(
  `* | from 2026-10-25 to 2026-10-26 | list insert_id, time, event_properties.price | sort event_properties.price, insert_id | limit 30`,
  () =>
    [...within(at('2026-10-25', BERLIN), at('2026-10-26', BERLIN))]
      .map((e) => [e.insert_id, c.iso(e.time), prop('price')(e) ?? null] as c.Row)
      .sort((a, b) => c.compareCells(a[2] ?? null, b[2] ?? null) || c.compareTexts(String(a[0]), String(b[0])))
      .slice(0, 30),
  BERLIN,
);
q(
  `* | from 2026-10-25 to 2026-10-26 | list insert_id, distinct_id | limit 20`,
  () =>
    [...within(at('2026-10-25', BERLIN), at('2026-10-26', BERLIN))]
      .sort((a, b) => b.time - a.time || c.compareTexts(b.insert_id, a.insert_id))
      .map((e) => [e.insert_id, w.person(e)] as c.Row)
      .slice(0, 20),
  BERLIN,
);
