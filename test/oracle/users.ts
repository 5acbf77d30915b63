// Reference implementation of profiles as rows.
import { aggregateColumns, aggregated, METRICS } from './aggregate.js';
import { intervalOf, isWithin, toRfc3339 } from './calendar.js';
import { matchesAll, profileField } from './fields.js';
import type { Profile } from './history.js';
import { COHORT, type UsersQuestion } from './question.js';
import { type Answer, ended, inAnyOrder, type Row } from './table.js';
import type { Value } from './values.js';
import type { World } from './world.js';

/** Bare `KEY` and `user.KEY` are equivalent. */
export function readProfile(profile: Profile, field: string): Value {
  return profileField(profile, field.startsWith('user.') ? field.slice('user.'.length) : field);
}

export function answerUsers(question: UsersQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const read = (profile: Profile, field: string): Value =>
    field === COHORT ? String(world.isInCohort(profile)) : readProfile(profile, field);
  const items = world.profiles.filter(
    (profile) => isWithin(profile.last_seen, interval) && matchesAll(question.where ?? [], profile, readProfile),
  );
  const { reading, ending } = question;
  if (reading?.kind !== 'aggregate') {
    const columns = ['user_id', 'email', 'email_domain', 'first_seen', 'last_seen', 'properties'];
    return { mode: 'users', columns, ...ended(inAnyOrder(items.map(profileRow)), ending, undefined) };
  }
  const { aggregate, by, having } = reading;
  // Reading: a profile belongs to the bucket of its last_seen, which the range applies to as well.
  const timeOf = (profile: Profile) => profile.last_seen;
  const table = aggregated({ items, aggregate, by, read, timeOf, interval, timezone, ending, having });
  const columns = aggregateColumns(aggregate, by);
  return { mode: 'users', columns, ...ended(table, ending, METRICS[aggregate.kind]) };
}

export function profileRow(profile: Profile): Row {
  return {
    user_id: profile.user_id,
    email: profile.email || null,
    email_domain: profile.email_domain || null,
    first_seen: toRfc3339(profile.first_seen),
    last_seen: toRfc3339(profile.last_seen),
    properties: profile.properties,
  };
}
