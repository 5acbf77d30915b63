// Resolves the groups of `by`: fields, periods of time, and steps of a number.
import { findFieldOrProperty } from '../conditions/events.js';
import { findNearest, quote, type Span } from '../errors.js';
import { GRANULARITIES, type Granularity } from '../fields.js';
import { MINUTE_BUCKETS_MAX } from '../limits.js';
import type { FieldName, GroupKey } from '../parse/syntax.js';
import { resolveGroupField } from './cohort-field.js';
import { isTimeField, resolveField } from './resolve-field.js';
import type { Group, ResolvedField, TimeRange } from './resolved.js';
import { report, type Scope } from './scope.js';

/** Whether the group is a period of the row's own time. */
export const isOwnTime = (group: Group | undefined): boolean => group?.kind === 'bucket' && group.of === undefined;

export const findGranularity = (name: FieldName): Granularity | undefined =>
  GRANULARITIES.find((granularity) => granularity === name.written);

const MINUTE_MS = 60_000;

export const spanOfKey = (key: GroupKey): Span => (key.kind === 'name' ? key.name.span : key.span);

/** The name of a group that is not computed; `source` takes no computed ones. */
export function plainName(scope: Scope, key: GroupKey, source: string): FieldName | undefined {
  if (key.kind === 'name') return key.name;
  const form = key.kind === 'bucket' ? 'bucket(…)' : `${key.period.written} of ${key.field.written}`;
  return report(scope, key.span, `by ${form} does not fit ${source}`, 'it goes with an aggregate of events or users');
}

/** Reports granularities with too many buckets in the range. */
export function checkBuckets(scope: Scope, keys: readonly GroupKey[], { fromMs, toMs }: TimeRange): void {
  const names = keys.flatMap((key) => (key.kind === 'name' ? [key.name] : []));
  const name = names.find((one) => findGranularity(one) === 'minute');
  if (name === undefined || (toMs - fromMs) / MINUTE_MS <= MINUTE_BUCKETS_MAX) return;
  const days = Math.floor((MINUTE_BUCKETS_MAX * MINUTE_MS) / 86_400_000);
  report(
    scope,
    name.span,
    `the time range has more than ${MINUTE_BUCKETS_MAX} minutes`,
    `by minute takes up to ${days} days; group by hour, or shorten the range`,
  );
}

export function resolveGroups(scope: Scope, keys: readonly GroupKey[]): Group[] {
  const groups: Group[] = [];
  for (const key of keys) {
    const group = resolveGroup(scope, key);
    if (group === undefined) continue;
    if (groups.some(({ name }) => name === group.name)) {
      report(scope, spanOfKey(key), `${quote(group.name)} is grouped by twice`, 'remove one of them');
    } else groups.push(group);
  }
  return groups;
}

function resolveGroup(scope: Scope, key: GroupKey): Group | undefined {
  switch (key.kind) {
    case 'bucket':
      return resolveNumberBucket(scope, key);
    case 'period_of':
      return resolvePeriod(scope, key);
    case 'name': {
      const { name } = key;
      const granularity = findGranularity(name);
      if (granularity) return { kind: 'bucket', name: name.written, granularity };
      const field = resolveGroupField(scope, name);
      return field && { kind: 'field', name: name.written, field };
    }
  }
}

const BUCKET = 'bucket';
const WIDTH_MIN = 1e-6;

function resolveNumberBucket(scope: Scope, key: Extract<GroupKey, { kind: 'bucket' }>): Group | undefined {
  const { function: called, field: written, width } = key;
  if (called.text !== BUCKET) {
    return report(
      scope,
      called.span,
      `unknown function ${quote(called.text)} in by`,
      'the form is: by bucket(price, 10)',
      BUCKET,
    );
  }
  // Where bare names are fields, they are not properties of events.
  const field = scope.findField ? scope.findField(scope, written) : findFieldOrProperty(scope, written);
  const size = Number(width.text);
  if (!Number.isFinite(size) || size < WIDTH_MIN) {
    report(
      scope,
      width.span,
      `the width ${width.text} is out of range`,
      `it is a number from ${WIDTH_MIN} on, as in bucket(price, 10)`,
    );
  }
  if (!field) return undefined;
  if (!isTimeField(field)) return { kind: 'number_bucket', name: BUCKET, field, width: size };
  return report(
    scope,
    written.span,
    `bucket does not fit ${written.written}, which is a time`,
    `write day of ${written.written}`,
  );
}

function resolvePeriod(scope: Scope, key: Extract<GroupKey, { kind: 'period_of' }>): Group | undefined {
  const { period, field: written } = key;
  const granularity = findGranularity(period);
  const field = resolveField(scope, written);
  if (!granularity) {
    const nearest = findNearest(period.written, GRANULARITIES);
    report(
      scope,
      period.span,
      `unknown period ${quote(period.written)}`,
      nearest ? `nearest is "${nearest}"` : `periods are ${GRANULARITIES.join(', ')}`,
      nearest,
    );
  }
  if (!field || !granularity) return undefined;
  const name = granularity;
  if (isTimeOfEvent(field)) return { kind: 'bucket', name, granularity };
  if (isTimeField(field)) return { kind: 'bucket', name, granularity, of: field };
  return report(
    scope,
    written.span,
    `${written.written} is no time, which by ${granularity} of … takes`,
    'times are time, user.first_seen, user.last_seen, session.start_time and session.end_time; of users first_seen and last_seen',
  );
}

const isTimeOfEvent = (field: ResolvedField): boolean => field.kind === 'column' && field.field.column === 'time';
