// Resolves `unit`: what is counted instead of people.
import { quote } from '../errors.js';
import { isDefined } from '../is-defined.js';
import type { FieldName, StageOf } from '../parse/syntax.js';
import { isTimeField, resolveField } from './resolve-field.js';
import type { Measure, ResolvedField, Unit } from './resolved.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

/** The unit of the query, for sources that count people. */
export function takeUnit(scope: Scope, stages: StageReader): Unit | undefined {
  const stage = stages.takeOne('unit');
  return stage && resolveUnit(scope, stage);
}

interface CountedPeople {
  readonly aggregate: StageOf<'aggregate'> | undefined;
  readonly measure: Measure | undefined;
}

/** The measure of an aggregate over events: `unique` without a field counts units. */
export function takeCountedUnit(
  scope: Scope,
  stages: StageReader,
  { aggregate, measure }: CountedPeople,
): Measure | undefined {
  const stage = stages.takeOne('unit');
  if (!stage) return measure;
  const unit = resolveUnit(scope, stage);
  const name = aggregate?.name ?? 'count';
  if (name !== 'unique' || aggregate?.field) {
    const what = aggregate?.field ? `${name} ${aggregate.field.written}` : name;
    const units = stage.fields.map(({ written }) => written).join(', ');
    return report(scope, stage.span, `unit does not fit ${what}`, `it goes with unique alone: unique | unit ${units}`);
  }
  return unit && { kind: 'unique', field: unit };
}

function resolveUnit(scope: Scope, { fields: written }: StageOf<'unit'>): Unit | undefined {
  const [first, second, third] = written;
  if (third) {
    report(scope, third.span, 'a unit has one field or two', `write unit ${first.written}, ${second?.written ?? ''}`);
  }
  if (second?.written === first.written) {
    report(scope, second.span, `${quote(first.written)} is in the unit twice`, `write unit ${first.written}`);
  }
  const fields = written.map((name) => resolvePart(scope, name)).filter(isDefined);
  if (fields.length < written.length) return undefined;
  return { kind: 'unit', name: written.map((name) => name.written).join(', '), fields };
}

function resolvePart(scope: Scope, name: FieldName): ResolvedField | undefined {
  const field = resolveField(scope, name);
  if (field === undefined || !isTimeField(field)) return field;
  return report(
    scope,
    name.span,
    `${name.written} is a time, and no unit`,
    'a unit is a field with values such as ids: session_id, user.company_id, event_properties.account_id',
  );
}
