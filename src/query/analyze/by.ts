// Resolves `by` and `window` of behaviour sources (funnel, retention, paths, lifecycle, formula).
import { quote } from '../errors.js';
import { GRANULARITIES, type Granularity } from '../fields.js';
import type { FieldName, GroupKey } from '../parse/syntax.js';
import { resolveLength } from '../time/range.js';
import { plainName } from './groups.js';
import { resolveField } from './resolve-field.js';
import type { Breakdown } from './resolved.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

const findGranularity = (name: FieldName): Granularity | undefined =>
  GRANULARITIES.find((granularity) => granularity === name.written);

export interface ByParts {
  readonly granularities: readonly Granularity[];
  readonly takesField: boolean;
  /** Groups behind an aggregate, which come before those of `by`. */
  readonly keys?: readonly GroupKey[];
}

export interface By {
  readonly keys: readonly GroupKey[];
  readonly granularity: Granularity | undefined;
  readonly breakdown: Breakdown | undefined;
}

/** Resolves `by`: at most one granularity and one field, as far as the source allows them. */
export function takeBy(scope: Scope, stages: StageReader, parts: ByParts): By {
  const { granularities, takesField, keys: before = [] } = parts;
  const { source } = stages;
  const keys = [...before, ...stages.takeAll('by').flatMap((stage) => stage.keys)];
  let granularity: Granularity | undefined;
  let breakdown: Breakdown | undefined;
  const form = [...granularities, ...(takesField ? ['a field'] : [])].join(', ');
  for (const key of keys) {
    const name = plainName(scope, key, source);
    if (name === undefined) continue;
    const found = findGranularity(name);
    if (found ? !granularities.includes(found) : !takesField) {
      report(scope, name.span, `by ${name.written} does not fit ${source}`, `by takes ${form}`);
    } else if (found ? granularity : breakdown) {
      const first = found ? granularity : breakdown?.name;
      report(scope, name.span, `by has ${quote(first ?? '')} already`, `${source} takes one; remove one of them`);
    } else if (found) {
      granularity = found;
    } else {
      const field = resolveField(scope, name);
      if (field) breakdown = { name: name.written, field };
    }
  }
  return { keys, granularity, breakdown };
}

const HOUR_MS = 3_600_000;

/** Length of the `window` stage in milliseconds; default one hour, or `fallbackMs`. */
export function takeWindow(scope: Scope, stages: StageReader, fallbackMs = HOUR_MS): number {
  const window = stages.takeOne('window');
  return (window && resolveLength(scope, window.duration)) ?? fallbackMs;
}
