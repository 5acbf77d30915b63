// Sessions over midnight, changed identities, profiles, and latest values.
import { type Event, propertyOf } from '../oracle/history.js';
import * as c from './counting.js';
import { HISTORY } from './history.js';
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
  inAutumn,
  is,
  KATHMANDU,
  NEW_YORK,
  NOW,
  own,
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

export const PEOPLE: Question[] = [];
const q = questionsOf(PEOPLE);

const sessionsOf = (events: readonly Event[]) => [...own(events, (e) => e.session_id).values()];
const started = (from: number, to: number) =>
  sessionsOf(w.events).filter(([first]) => (first as Event).time >= from && (first as Event).time < to);
const seconds = (all: readonly Event[]) => ((all.at(-1) as Event).time - (all[0] as Event).time) / 1000;
const sessionTable = (list: readonly Event[][], from: number, to: number, zone: string): c.Row[] =>
  c.bucketsOf(from, to, 'day', zone).map((d) => {
    const of = list.filter(([first]) => c.bucketOf((first as Event).time, 'day', zone) === d);
    return [
      d,
      of.length,
      c.average(of.map(seconds)),
      c.average(of.map((all) => all.length)),
      of.length === 0 ? null : of.filter((all) => all.length === 1).length / of.length,
    ];
  });
for (const [zone, from, to] of [
  [BERLIN, '2026-10-24', '2026-10-28'],
  [NEW_YORK, '2026-10-31', '2026-11-03'],
  [KATHMANDU, '2026-11-27', '2026-11-30'],
] as const) {
  q(
    `sessions | from ${from} to ${to}`,
    () => sessionTable(started(at(from, zone), at(to, zone)), at(from, zone), at(to, zone), zone),
    zone,
  );
  q(
    `sessions | from ${from} to ${to} | where event_type = "purchase" and session.event_count > 1`,
    () =>
      sessionTable(
        started(at(from, zone), at(to, zone)).filter((all) => all.length > 1 && all.some(is('purchase'))),
        at(from, zone),
        at(to, zone),
        zone,
      ),
    zone,
  );
}
const landing = (all: readonly Event[]) => {
  const e = all.find((one) => one.derived._url !== undefined);
  return e === undefined ? null : path(e);
};
const exit = (all: readonly Event[]) => {
  const e = all.findLast((one) => one.derived._url !== undefined);
  return e === undefined ? null : path(e);
};
const firstCountry = (all: readonly Event[]) => all.map(country).find((one) => one !== null) ?? null;
q(
  `sessions | ${AUTUMN} | median session.duration by session.landing_path`,
  () =>
    c.byMetric(
      c
        .groupBy(started(A0, A1), (all) => [landing(all)])
        .map(([key, list]) => [...key, c.quantile(list.map(seconds), 0.5)]),
    ),
  BERLIN,
);
q(
  `sessions | ${AUTUMN} | count by session.country, session.exit_path | where count > 1`,
  () =>
    c
      .byMetric(
        c.groupBy(started(A0, A1), (all) => [firstCountry(all), exit(all)]).map(([key, list]) => [...key, list.length]),
      )
      .filter((row) => Number(row[2]) > 1),
  BERLIN,
);
q(
  `sessions | ${AUTUMN} | unique by week`,
  () =>
    c.bucketsOf(A0, A1, 'week', BERLIN).map((d) => [
      d,
      people(
        started(A0, A1)
          .filter(([f]) => c.bucketOf((f as Event).time, 'week', BERLIN) === d)
          .flat(),
      ),
    ]),
  BERLIN,
);
q(
  `sessions | ${AUTUMN} | sum session.event_count by hour_of_day | where total > 20`,
  () =>
    c
      .bucketsOf(A0, A1, 'hour_of_day', BERLIN)
      .map(
        (h): c.Row => [
          h,
          c.sum(
            started(A0, A1)
              .filter(([f]) => c.bucketOf((f as Event).time, 'hour_of_day', BERLIN) === h)
              .map((all) => all.length),
          ),
        ],
      )
      .filter((row) => Number(row[1]) > 20),
  BERLIN,
);
q(
  `purchase | ${AUTUMN} | where session.landing_path = "/" and session.duration >= 3600 | unique by session.exit_path`,
  () =>
    c.byMetric(
      by(
        inAutumn(is('purchase')).filter((e) => {
          const s = w.session(e.session_id);
          return s.length > 0 && landing(s) === '/' && seconds(s) >= 3600;
        }),
        (e) => [exit(w.session(e.session_id))],
        people,
      ),
    ),
  BERLIN,
);
const lastSession = (id: string | null, direction = 1) =>
  id === null
    ? []
    : (sessionsOf(w.events)
        .filter((all) => (all[0] as Event).time <= Date.parse(NOW) && all.some((e) => w.person(e) === id))
        .sort(
          (a, b) =>
            direction *
            ((b[0] as Event).time - (a[0] as Event).time ||
              c.compareTexts(String((b[0] as Event).session_id), String((a[0] as Event).session_id))),
        )[0] ?? []);
q(
  `* | ${AUTUMN} | count by user_last_session.landing_path, user_first_session.country`,
  () =>
    c.byMetric(
      by(inAutumn(), (e) => [landing(lastSession(w.person(e))), firstCountry(lastSession(w.person(e), -1))], size),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | count by session.first_event, session.last_event | top 4`,
  () =>
    c
      .byMetric(
        by(
          inAutumn(),
          (e) => {
            const s = w.session(e.session_id);
            return [s[0]?.event_type ?? null, s.at(-1)?.event_type ?? null];
          },
          size,
        ),
      )
      .slice(0, 4),
  BERLIN,
);
q(
  `* | ${AUTUMN} | count by day of session.start_time, event_type | where event_type = "signup" and count > 1`,
  () =>
    c
      .ascending(
        by(
          inAutumn(is('signup')),
          (e) => {
            const s = w.session(e.session_id);
            return [s[0] ? c.bucketOf(s[0].time, 'day', BERLIN) : null, e.event_type];
          },
          size,
        ),
      )
      .filter((row) => Number(row[2]) > 1),
  BERLIN,
);
q(`* | ${AUTUMN} | count by distinct_id`, () => c.byMetric(by(inAutumn(), (e) => [w.person(e)], size)), BERLIN);
q(
  `* | ${AUTUMN} | unique device_id by distinct_id`,
  () =>
    c.byMetric(
      by(
        inAutumn(),
        (e) => [w.person(e)],
        (all) => c.distinct(all.map((e) => e.device_id)),
      ),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | where distinct_id in ("bob", "ann", "d4") and device_id = "d1" | count by distinct_id, user_id`,
  () =>
    c.byMetric(
      by(
        inAutumn((e) => ['bob', 'ann', 'd4'].includes(String(w.person(e))) && e.device_id === 'd1'),
        (e) => [w.person(e), e.user_id],
        size,
      ),
    ),
  BERLIN,
);
q(
  `user "ann@example.com" | ${AUTUMN} | count by distinct_id, week`,
  () =>
    c
      .ascending(
        by(
          inAutumn((e) => ['ann', 'eve'].includes(String(w.person(e)))),
          (e) => [week(e), w.person(e)],
          size,
        ),
      )
      .map(([d = null, p = null, n = null]) => [p, d, n]),
  BERLIN,
);
q(
  `* | ${AUTUMN} | unique by user.plan, user.email_domain`,
  () =>
    c.byMetric(
      by(
        inAutumn(),
        (e) => {
          const p = w.profile(w.person(e));
          return [c.textOf(p && propertyOf(p.properties, 'plan')), p?.email_domain ?? null];
        },
        people,
      ),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | where user.seats > 3 or user.seats = true | count by user.seats`,
  () =>
    c.byMetric(
      by(
        inAutumn((e) => {
          const p = w.profile(w.person(e));
          const s = p && propertyOf(p.properties, 'seats');
          return s === true || Number(c.numberOf(s) ?? 0) > 3;
        }),
        (e) => {
          const p = w.profile(w.person(e));
          return [c.textOf(p && propertyOf(p.properties, 'seats'))];
        },
        size,
      ),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | count by hour of user.first_seen`,
  () =>
    c.ascending(
      by(
        inAutumn(),
        (e) => {
          const p = w.profile(w.person(e));
          return [p ? c.bucketOf(p.first_seen, 'hour', BERLIN) : null];
        },
        size,
      ),
    ),
  BERLIN,
);
q(
  `* | ${AUTUMN} | unique by day of user.first_seen, week`,
  () =>
    c.ascending(
      by(
        inAutumn(),
        (e) => {
          const p = w.profile(w.person(e));
          return [p ? c.bucketOf(p.first_seen, 'day', BERLIN) : null, week(e)];
        },
        people,
      ),
    ),
  BERLIN,
);
q(
  `users | count by day of first_seen`,
  () =>
    c.ascending(
      c
        .groupBy(HISTORY.profiles, (p) => [c.bucketOf(p.first_seen, 'day', BERLIN)])
        .map(([k, all]) => [...k, all.length]),
    ),
  BERLIN,
);
q(
  `users | where first_seen >= 2026-10-25 and seats < 20 | list user_id, seats, plan | sort seats`,
  () => [
    ['eve', -1, null],
    ['ann', 5, 'pro'],
    ['bob', '12', 'free'],
  ],
  BERLIN,
);
q(`users | where sum(purchase, price last 90d) > 30 | count by plan`, () =>
  c.byMetric(
    c
      .groupBy(
        HISTORY.profiles.filter(
          (p) =>
            c.sum(
              prices(
                within(
                  Date.parse(NOW) - 90 * c.DAY,
                  Date.parse(NOW),
                  (e) => e.event_type === 'purchase' && w.person(e) === p.user_id,
                ),
              ),
            ) > 30,
        ),
        (p) => [c.textOf(propertyOf(p.properties, 'plan'))],
      )
      .map(([k, all]) => [...k, all.length]),
  ),
);
const latest = (
  events: readonly Event[],
  read: (e: Event) => string | null,
  per: (e: Event) => string | null = w.person,
) =>
  [
    ...own(
      events.filter((e) => (read(e) ?? '') !== ''),
      per,
    ),
  ].map(([id, all]) => ({ id, e: all.at(-1) as Event, v: read(all.at(-1) as Event) }));
q(
  `* | latest event_properties.plan | ${AUTUMN} | count by last_value`,
  () => c.byMetric(c.groupBy(latest(inAutumn(), plan), ({ v }) => [v]).map(([k, all]) => [...k, all.length])),
  BERLIN,
);
q(
  `* | latest _path per event_properties.account | ${AUTUMN}`,
  () =>
    latest(inAutumn(), path, account)
      .map(({ id, e, v }) => [id, v, c.iso(e.time)])
      .sort((a, b) => c.compareTexts(String(b[2]), String(a[2]))),
  BERLIN,
);
q(
  `purchase | latest event_properties.price | ${AUTUMN} | median last_value by day`,
  () => {
    const all = latest(inAutumn(is('purchase')), (e) => c.textOf(prop('price')(e)));
    return c.bucketsOf(A0, A1, 'day', BERLIN).map((d) => [
      d,
      c.quantile(
        all
          .filter(({ e }) => day(e) === d)
          .map(({ e }) => price(e))
          .filter((n) => n !== undefined),
        0.5,
      ),
    ]);
  },
  BERLIN,
);
