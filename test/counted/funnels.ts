// Funnels with equal times, windows that end with a step, excluded events, units and clock changes.
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
  type Is,
  inAutumn,
  is,
  NEW_YORK,
  own,
  ownCount,
  path,
  plan,
  price,
  type Question,
  questionsOf,
  within,
} from './questions.js';

export const FUNNELS: Question[] = [];
const q = questionsOf(FUNNELS);

interface Attempt {
  readonly start: Event;
  readonly times: readonly number[];
}
/**
 * Each step takes the first later unused event within the window, which is enough for steps without
 * common events.
 */
function attempts(
  events: readonly Event[],
  steps: readonly Is[],
  window: number,
  excluded: Is = () => false,
): Attempt[] {
  return events
    .filter((e) => steps[0]?.(e))
    .map((start) => {
      const later = events.filter((e) => e.time >= start.time && e.time <= start.time + window);
      const done = [start];
      for (const isStep of steps.slice(1)) {
        const last = done.at(-1) ?? start;
        const next = later.find((e) => !done.includes(e) && e.time >= last.time && isStep(e));
        if (next === undefined) break;
        // An excluded event after a step and not after the next one.
        if (events.some((e) => excluded(e) && e.time > last.time && e.time <= next.time)) break;
        done.push(next);
      }
      return { start, times: done.map((e) => e.time) };
    });
}
const bestOf = (all: readonly Attempt[]): Attempt =>
  all.reduce((best, one) => (one.times.length > best.times.length ? one : best));
function report(counted: readonly Attempt[], names: readonly string[]): c.Row[] {
  const users = names.map((_, index) => counted.filter(({ times }) => times.length > index).length);
  return names.map((name, index) => [
    index + 1,
    name,
    users[index] ?? 0,
    c.ratio(users[index] ?? 0, users[0] ?? 0),
    index === 0 ? 1 : c.ratio(users[index] ?? 0, users[index - 1] ?? 0),
    index === 0
      ? null
      : c.quantile(
          counted
            .filter(({ times }) => times.length > index)
            .map(({ times }) => ((times[index] ?? 0) - (times[0] ?? 0)) / 1000),
          0.5,
        ),
  ]);
}
const STEPS3 = [is('page_view'), is('signup'), is('purchase')];
const NAMES3 = ['page_view', 'signup', 'purchase'];
const funnel = (
  events: readonly Event[],
  steps: readonly Is[],
  window: number,
  excluded?: Is,
  keyOf?: (e: Event) => string | null,
) =>
  [...own(events, keyOf).values()].map((all) => attempts(all, steps, window, excluded)).filter((all) => all.length > 0);
for (const [text, window] of [
  ['1h', c.HOUR],
  ['24h', c.DAY],
  ['3d', 3 * c.DAY],
  ['1 week', 7 * c.DAY],
] as const) {
  q(
    `funnel page_view -> signup -> purchase | ${AUTUMN} | window ${text}`,
    () => report(funnel(inAutumn(), STEPS3, window).map(bestOf), NAMES3),
    BERLIN,
  );
}
q(
  `funnel page_view -> signup -> purchase exclude refund | ${AUTUMN} | window 3d`,
  () => report(funnel(inAutumn(), STEPS3, 3 * c.DAY, is('refund')).map(bestOf), NAMES3),
  BERLIN,
);
q(
  `funnel page_view -> signup -> purchase exclude "export data", refund[price > 5] | ${AUTUMN} | window 7d | where _country != "NP" | by _country`,
  () => {
    const counted = funnel(
      inAutumn((e) => country(e) !== 'NP'),
      STEPS3,
      7 * c.DAY,
      (e) => e.event_type === 'export data' || (e.event_type === 'refund' && Number(price(e) ?? 0) > 5),
    ).map(bestOf);
    const blocks = c.groupBy(counted, ({ start }) => [country(start)]);
    return [...blocks]
      .sort(([[a = null], x], [[b = null], y]) => y.length - x.length || c.compareCells(a, b))
      .flatMap(([[key = null], all]) => report(all, NAMES3).map((row) => [key, ...row]));
  },
  BERLIN,
);
q(
  `funnel page_view -> signup | from 2026-10-24 to 2026-11-03 | window 2d | by day`,
  () => {
    const all = funnel(within(at('2026-10-24', NEW_YORK), at('2026-11-03', NEW_YORK)), STEPS3.slice(0, 2), 2 * c.DAY);
    return c.bucketsOf(at('2026-10-24', NEW_YORK), at('2026-11-03', NEW_YORK), 'day', NEW_YORK).flatMap((d) => {
      const counted = all
        .map((one) => one.filter(({ start }) => c.bucketOf(start.time, 'day', NEW_YORK) === d))
        .filter((one) => one.length > 0)
        .map(bestOf);
      return report(counted, NAMES3.slice(0, 2)).map((row) => [d, ...row]);
    });
  },
  NEW_YORK,
);
q(
  `funnel page_view[_path = "/"] -> (signup, purchase) -> refund[price >= 5] | ${AUTUMN} | window 5d`,
  () =>
    report(
      funnel(
        inAutumn(),
        [
          (e) => e.event_type === 'page_view' && path(e) === '/',
          is('signup', 'purchase'),
          (e) => e.event_type === 'refund' && Number(price(e) ?? -1) >= 5,
        ],
        5 * c.DAY,
      ).map(bestOf),
      ['page_view[_path = "/"]', '(signup, purchase)', 'refund[price >= 5]'],
    ),
  BERLIN,
);
q(
  `funnel page_view -> signup -> purchase | ${AUTUMN} | window 12h | unit event_properties.account`,
  () => report(funnel(inAutumn(), STEPS3, 12 * c.HOUR, undefined, account).map(bestOf), NAMES3),
  BERLIN,
);
q(
  `funnel page_view -> signup -> purchase | ${AUTUMN} | window 12h | unit session_id, event_properties.account`,
  () =>
    report(
      funnel(
        inAutumn((e) => account(e) !== null && e.session_id !== null),
        STEPS3,
        12 * c.HOUR,
        undefined,
        (e) => JSON.stringify([e.session_id, account(e)]),
      ).map(bestOf),
      NAMES3,
    ),
  BERLIN,
);
const orderAny = (all: readonly Event[], steps: readonly Is[], window: number) =>
  bestOf(
    all
      .filter((e) => steps.some((s) => s(e)))
      .map((start) => ({
        start,
        times: steps
          .map(
            (s) =>
              all.find(
                (e) =>
                  s(e) &&
                  e.time >= start.time &&
                  e.time <= start.time + window &&
                  (e.time > start.time || all.indexOf(e) >= 0),
              )?.time,
          )
          .filter((t) => t !== undefined)
          .sort((a, b) => a - b),
      })),
  );
q(
  `funnel page_view -> signup -> purchase | order any | ${AUTUMN} | window 12h`,
  () =>
    report(
      [...own(inAutumn(is(...NAMES3))).values()].map((all) => orderAny(all, STEPS3, 12 * c.HOUR)),
      ['', '', ''],
    ).map(([n = null, , ...rest]) => [n, null, ...rest]),
  BERLIN,
);
q(
  `funnel page_view -> signup -> purchase | ${AUTUMN} | window 7d | times`,
  () => {
    const counted = funnel(inAutumn(), STEPS3, 7 * c.DAY).map(bestOf);
    return [1, 2].map((k) => {
      const s = counted
        .filter(({ times }) => times.length > k)
        .map(({ times }) => ((times[k] ?? 0) - (times[0] ?? 0)) / 1000);
      const share = (n: number) => c.ratio(s.filter((x) => x <= n).length, s.length);
      return [
        k + 1,
        NAMES3[k] ?? '',
        s.length,
        c.quantile(s, 0.1),
        c.quantile(s, 0.5),
        c.quantile(s, 0.9),
        share(60),
        share(3600),
        share(86400),
        share(7 * 86400),
        share(30 * 86400),
      ];
    });
  },
  BERLIN,
);
q(
  `funnel page_view -> signup | ${AUTUMN} | window 3d | times 6h`,
  () => {
    const s = funnel(inAutumn(), STEPS3.slice(0, 2), 3 * c.DAY)
      .map(bestOf)
      .filter(({ times }) => times.length > 1)
      .map(({ times }) => ((times[1] ?? 0) - (times[0] ?? 0)) / 1000);
    const last = Math.floor(Math.max(...s) / 21600);
    return Array.from({ length: last + 1 }, (_, i) => [
      2,
      i * 21600,
      s.filter((x) => Math.floor(x / 21600) === i).length,
    ]);
  },
  BERLIN,
);
q(
  `funnel page_view -> signup | from 2026-10-26 to 2026-11-02 | window 1d | compare previous`,
  () => {
    const of = (a: string, b: string) =>
      report(
        funnel(within(at(a, NEW_YORK), at(b, NEW_YORK)), STEPS3.slice(0, 2), c.DAY).map(bestOf),
        NAMES3.slice(0, 2),
      );
    const [now, before] = [of('2026-10-26', '2026-11-02'), of('2026-10-19', '2026-10-26')];
    return now.map((row, i) => [
      row[0] ?? null,
      row[1] ?? null,
      ...[2, 3, 4].flatMap((k) => {
        const [x, y] = [row[k] as number, before[i]?.[k] as number];
        return [x, y, c.change(x, y)];
      }),
      row[5] ?? null,
    ]);
  },
  NEW_YORK,
);
q(
  `funnel page_view -> purchase | ${AUTUMN} | window 2d | where unique(*, event_properties.plan) >= 4 and count(refund) in (0, 1, 2, 3)`,
  () =>
    report(
      funnel(
        inAutumn(
          (e) =>
            c.distinct(ownCount(e, () => true, A0, A1).map(plan)) >= 4 && ownCount(e, is('refund'), A0, A1).length <= 3,
        ),
        [is('page_view'), is('purchase')],
        2 * c.DAY,
      ).map(bestOf),
      ['page_view', 'purchase'],
    ),
  BERLIN,
);
