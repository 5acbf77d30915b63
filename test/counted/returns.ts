// Retention, lifecycle, stickiness and paths over clock changes.
import type { Event } from '../oracle/history.js';
import * as c from './counting.js';
import {
  A0,
  A1,
  AUTUMN,
  account,
  at,
  BERLIN,
  country,
  day,
  type Is,
  inAutumn,
  is,
  KATHMANDU,
  LORD_HOWE,
  NEW_YORK,
  NOW,
  own,
  ownCount,
  path,
  plan,
  price,
  prices,
  type Question,
  questionsOf,
  w,
  within,
} from './questions.js';

export const RETURNS: Question[] = [];
const q = questionsOf(RETURNS);

// retention
const periodsBetween = (a: number, b: number, unit: 'day' | 'week' | 'month', zone: string) =>
  c.bucketsOf(a, b + 1, unit, zone).length - 1;
function retention({
  from,
  to,
  zone,
  unit,
  start,
  back,
  wanted = () => true,
  group = () => [],
  unbounded = false,
  first = false,
  window,
  total,
}: {
  from: number;
  to: number;
  zone: string;
  unit: 'day' | 'week' | 'month';
  start: Is;
  back: Is;
  wanted?: Is;
  group?: (e: Event) => c.Cell[];
  unbounded?: boolean;
  first?: boolean;
  window?: number;
  total?: boolean;
}): c.Row[] {
  const starts = [
    ...own(w.events.filter((e) => start(e) && wanted(e) && (first || (e.time >= from && e.time < to)))).entries(),
  ]
    .map(([id, [one]]) => ({ id, one: one as Event }))
    .filter(({ one }) => one.time >= from && one.time < to);
  return c
    .groupBy(starts, ({ one }) => [...group(one), c.bucketOf(one.time, unit, zone)])
    .flatMap(([key, members]) => {
      const cohort = at(String(key.at(-1)), zone);
      let sum = 0;
      const reach =
        window === undefined
          ? periodsBetween(cohort, to - 1, unit, zone)
          : Math.floor((to - 1 - Math.min(...members.map(({ one }) => one.time))) / window);
      return Array.from({ length: Math.min(12, reach) + 1 }, (_, n): c.Row => {
        const returns = (m: { id: string; one: Event }) =>
          within(Math.max(from, m.one.time), to, (e) => w.person(e) === m.id && back(e) && wanted(e)).filter((e) => {
            const p =
              window === undefined
                ? periodsBetween(cohort, e.time, unit, zone)
                : Math.floor((e.time - m.one.time) / window);
            return unbounded ? p >= n : p === n;
          });
        const users = members.filter((m) => returns(m).length > 0).length;
        const value = c.sum(prices(members.flatMap(returns)));
        sum += value;
        return [...key, members.length, n, users, users / members.length, ...(total ? [value, sum] : [])];
      });
    });
}
const R = { from: A0, to: A1, zone: BERLIN, unit: 'week' as const, start: is('signup'), back: is('purchase') };
q(`retention signup returning purchase by week | ${AUTUMN}`, () => c.ascending(retention(R)), BERLIN);
q(
  `retention signup by week, _country | ${AUTUMN}`,
  () =>
    [...retention({ ...R, back: () => true, group: (e) => [country(e)] })].sort(
      (a, b) =>
        c.compareCells(a[1] ?? null, b[1] ?? null) ||
        c.compareCells(a[0] ?? null, b[0] ?? null) ||
        Number(a[3]) - Number(b[3]),
    ),
  BERLIN,
);
q(
  `retention page_view[_path = "/"] returning (purchase, refund) by day | from 2026-10-23 to 2026-11-04 | where _country != "AU"`,
  () =>
    c.ascending(
      retention({
        ...R,
        zone: NEW_YORK,
        from: at('2026-10-23', NEW_YORK),
        to: at('2026-11-04', NEW_YORK),
        unit: 'day',
        start: (e) => e.event_type === 'page_view' && path(e) === '/',
        back: is('purchase', 'refund'),
        wanted: (e) => country(e) !== 'AU',
      }),
    ),
  NEW_YORK,
);
q(
  `retention * returning purchase by day | from 2026-10-23 to 2026-11-04 | window 24h | unbounded`,
  () =>
    c.ascending(
      retention({
        ...R,
        zone: LORD_HOWE,
        from: at('2026-10-23', LORD_HOWE),
        to: at('2026-11-04', LORD_HOWE),
        unit: 'day',
        start: () => true,
        window: c.DAY,
        unbounded: true,
      }),
    ),
  LORD_HOWE,
);
q(
  `retention signup returning purchase by month | sum price | first | from 2026-08-20 to 2026-11-20`,
  () =>
    c.ascending(
      retention({
        ...R,
        from: at('2026-08-20', BERLIN),
        to: at('2026-11-20', BERLIN),
        unit: 'month',
        first: true,
        total: true,
      }),
    ),
  BERLIN,
);
q(
  `retention signup returning purchase by week | first | unbounded | from 2026-10-12 to 2026-11-20`,
  () =>
    c.ascending(
      retention({ ...R, from: at('2026-10-12', BERLIN), to: at('2026-11-20', BERLIN), first: true, unbounded: true }),
    ),
  BERLIN,
);
// lifecycle, stickiness, paths
const lifecycle = (from: number, to: number, unit: 'day' | 'week' | 'month', zone: string, isOf: Is) => {
  const periods = c.bucketsOf(from, to, unit, zone);
  const active = [...own(w.events.filter(isOf)).values()].map(
    (all) => new Set(all.map((e) => c.bucketOf(e.time, unit, zone))),
  );
  return periods.flatMap((p) => {
    const start = at(String(p), zone);
    const before = c.bucketOf(c.periodStart(start, unit, zone, -1), unit, zone);
    const n = (isIt: (set: Set<string | number>, earlier: boolean) => boolean) =>
      active.filter((set) =>
        isIt(
          set,
          [...set].some((x) => x < p),
        ),
      ).length;
    return [
      [p, 'New', n((s, e) => s.has(p) && !e)],
      [p, 'Returning', n((s) => s.has(p) && s.has(before))],
      [p, 'Resurrected', n((s, e) => s.has(p) && e && !s.has(before))],
      [p, 'Dormant', n((s) => !s.has(p) && s.has(before))],
    ] as c.Row[];
  });
};
q(
  `lifecycle purchase by week | from 2026-10-20 to 2026-11-05`,
  () => lifecycle(at('2026-10-20', NEW_YORK), at('2026-11-05', NEW_YORK), 'week', NEW_YORK, is('purchase')),
  NEW_YORK,
);
q(
  `lifecycle (purchase, refund[price > 0]) by day | from 2026-10-23 to 2026-10-28`,
  () =>
    lifecycle(
      at('2026-10-23', BERLIN),
      at('2026-10-28', BERLIN),
      'day',
      BERLIN,
      (e) => e.event_type === 'purchase' || (e.event_type === 'refund' && Number(price(e) ?? 0) > 0),
    ),
  BERLIN,
);
q(
  `lifecycle * by month | last quarter`,
  () => lifecycle(at('2026-07-01', KATHMANDU), at('2026-10-01', KATHMANDU), 'month', KATHMANDU, () => true),
  KATHMANDU,
);
q(
  `stickiness page_view | this month`,
  () =>
    c.ascending(
      c
        .groupBy([...own(within(at('2026-11-01', LORD_HOWE), Date.parse(NOW), is('page_view'))).values()], (all) => [
          c.distinct(all.map((e) => c.bucketOf(e.time, 'day', LORD_HOWE))),
        ])
        .map(([[n = null], all]) => [n, all.length]),
    ),
  LORD_HOWE,
);
q(
  `stickiness * | from 2026-10-01 to 2026-11-10 | unit event_properties.account`,
  () =>
    c.ascending(
      c
        .groupBy([...own(inAutumn(), account).values()], (all) => [c.distinct(all.map(day))])
        .map(([[n = null], all]) => [n, all.length]),
    ),
  BERLIN,
);
const paths = (
  groups: Map<string, Event[]>,
  isAnchor: Is,
  { to = false, window = c.HOUR, depth = 5, label = (e: Event): string | null => e.event_type },
): c.Row[] => {
  const found = [...groups.values()].flatMap((all) => {
    const i = to ? all.findLastIndex(isAnchor) : all.findIndex(isAnchor);
    if (i < 0) return [];
    const near = all.filter((e, j) => (to ? j <= i : j >= i) && Math.abs(e.time - (all[i] as Event).time) <= window);
    return [(to ? near.slice(-depth) : near.slice(0, depth)).map((e) => label(e) || '(none)')];
  });
  return c
    .groupBy(found, (p) => p)
    .map(([key, all]): c.Row => [key, all.length])
    .sort(
      (a, b) =>
        Number(b[1]) - Number(a[1]) || c.compareTexts((a[0] as string[]).join('\0'), (b[0] as string[]).join('\0')),
    )
    .slice(0, 20);
};
q(
  `paths from page_view | ${AUTUMN} | window 3d | depth 4`,
  () => paths(own(inAutumn()), is('page_view'), { window: 3 * c.DAY, depth: 4 }),
  BERLIN,
);
q(
  `paths to purchase | ${AUTUMN} | window 2d | by _path | depth 3 | where event_properties.price > 5`,
  () =>
    paths(own(inAutumn()), (e) => e.event_type === 'purchase' && Number(price(e) ?? 0) > 5, {
      to: true,
      window: 2 * c.DAY,
      depth: 3,
      label: path,
    }),
  BERLIN,
);
q(
  `paths from (page_view, signup) | ${AUTUMN} | window 1w | by event_properties.plan | depth 3 | unit event_properties.account`,
  () => paths(own(inAutumn(), account), is('page_view', 'signup'), { window: 7 * c.DAY, depth: 3, label: plan }),
  BERLIN,
);
q(
  `paths from signup[_country = "DE"] | ${AUTUMN} | window 1d | unit session_id | top 3`,
  () =>
    paths(
      own(inAutumn(), (e) => e.session_id),
      (e) => e.event_type === 'signup' && country(e) === 'DE',
      { window: c.DAY },
    ).slice(0, 3),
  BERLIN,
);
q(
  `retention signup returning purchase by week | ${AUTUMN} | where count(refund) >= 3`,
  () => c.ascending(retention({ ...R, wanted: (e) => ownCount(e, is('refund'), A0, A1).length >= 3 })),
  BERLIN,
);
