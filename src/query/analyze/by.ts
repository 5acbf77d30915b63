// Resolves `by` and `window` of behaviour sources (funnel, retention, paths, lifecycle,
// stickiness).
import { quote } from '../errors.js';
import type { Granularity } from '../fields.js';
import type { GroupKey } from '../parse/syntax.js';
import { resolveLength } from '../time/range.js';
import { resolveGroupField } from './cohort-field.js';
import { findGranularity, plainName } from './groups.js';
import type { Breakdown } from './resolved.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

export interface ByParts {
  readonly granularities: readonly Granularity[];
  readonly takesField: boolean;
  /** Whether a cohort stands beside the field: it breaks down what the field does not. */
  readonly takesCohort?: boolean;
  /** Groups behind an aggregate, which come before those of `by`. */
  readonly keys?: readonly GroupKey[];
}

export interface By {
  readonly keys: readonly GroupKey[];
  readonly granularity: Granularity | undefined;
  readonly breakdown: Breakdown | undefined;
  readonly cohort: Breakdown | undefined;
}

/** Resolves `by`: at most one granularity and one field, as far as the source allows them. */
export function takeBy(scope: Scope, stages: StageReader, parts: ByParts): By {
  const { granularities, takesField, takesCohort = false, keys: before = [] } = parts;
  const { source } = stages;
  const keys = [...before, ...stages.takeAll('by').flatMap((stage) => stage.keys)];
  let granularity: Granularity | undefined;
  let breakdown: Breakdown | undefined;
  let cohort: Breakdown | undefined;
  const form = [...granularities, ...(takesField ? ['a field'] : []), ...(takesCohort ? ['a cohort'] : [])].join(', ');
  for (const key of keys) {
    const name = plainName(scope, key, source);
    if (name === undefined) continue;
    const found = findGranularity(name);
    const isBeside = takesCohort && name.cohort !== undefined;
    const first = found ? granularity : (isBeside ? cohort : breakdown)?.name;
    if (found ? !granularities.includes(found) : !takesField && !isBeside) {
      report(scope, name.span, `by ${name.written} does not fit ${source}`, `by takes ${form}`);
    } else if (first !== undefined) {
      report(scope, name.span, `by has ${quote(first)} already`, `${source} takes one; remove one of them`);
    } else if (found) {
      granularity = found;
    } else {
      const field = resolveGroupField(scope, name);
      if (field && isBeside) cohort = { name: name.written, field };
      else if (field) breakdown = { name: name.written, field };
    }
  }
  return { keys, granularity, breakdown, cohort };
}

const HOUR_MS = 3_600_000;

/** Length of the `window` stage in milliseconds; default one hour, or `fallbackMs`. */
export function takeWindow(scope: Scope, stages: StageReader, fallbackMs = HOUR_MS): number {
  const window = stages.takeOne('window');
  return (window && resolveLength(scope, window.duration)) ?? fallbackMs;
}
