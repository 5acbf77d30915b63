// What is measured in results of an experiment besides conversions: the value of units
// (`results sum(purchase, price)`, `winsorize off`, `cuped`), guards, and the planned effect.
import { isTimeField } from '../../analyze/resolve-field.js';
import type { EventSet, ResolvedField } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { findFieldOrProperty, resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import { isDefined } from '../../is-defined.js';
import type { Call, StageOf } from '../../parse/syntax.js';
import { resolveLength } from '../../time/range.js';

export interface ValueOutcome {
  /** As the query has it. */
  readonly written: string;
  readonly function: 'sum' | 'avg';
  readonly events: EventSet;
  readonly field: ResolvedField;
  /** Whether values above the 99.9th percentile of all units count as that. */
  readonly isWinsorized: boolean;
}

const FORM = 'results of a value are results sum(event, field) and results avg(event, field)';

/** Undefined for results of conversions, and for problems, which are reported. */
export function takeValue(scope: Scope, stages: StageReader, { call }: StageOf<'results'>): ValueOutcome | undefined {
  const winsorize = stages.takeOne('winsorize');
  if (call === undefined) {
    if (winsorize) {
      report(
        scope,
        winsorize.span,
        'winsorize does not fit results of conversions',
        'it goes with results sum(event, field)',
      );
    }
    return undefined;
  }
  const { name, event, field: written, last, per } = call;
  const events = resolveEvents(scope, event);
  if (last)
    report(
      scope,
      last.span,
      'last does not fit results',
      'events count within the window after the exposure: window 14d',
    );
  if (per) report(scope, per.span, 'per does not fit results', `values are of units: unit ${per.written}`);
  if (name.text !== 'sum' && name.text !== 'avg') {
    return report(scope, name.span, `${quote(name.text)} is no value of a unit`, FORM);
  }
  if (!written)
    return report(scope, call.span, `${name.text} has no field`, `write ${name.text}(${event.written}, price)`);
  const field = findFieldOrProperty(scope, written);
  if (!field || !events || last || per) return undefined;
  if (isTimeField(field)) {
    return report(
      scope,
      written.span,
      `${name.text} does not fit ${written.written}, which is a time`,
      'it takes a field that holds numbers',
    );
  }
  return { written: textOf(call), function: name.text, events, field, isWinsorized: winsorize === undefined };
}

const textOf = ({ name, event, field }: Call): string => `${name.text}(${event.written}, ${field?.written})`;

/** Further events, which warn and never decide. */
export const takeGuards = (scope: Scope, stages: StageReader): EventSet[] =>
  (stages.takeOne('guard')?.events ?? []).map((event) => resolveEvents(scope, event)).filter(isDefined);

const DAY_MS = 86_400_000;

/** The time before the exposure, in which `cuped` reads the same sum; undefined without it. */
export function takeTimeBefore(scope: Scope, stages: StageReader, value: ValueOutcome | undefined): number | undefined {
  const stage = stages.takeOne('cuped');
  if (!stage) return undefined;
  const lengthMs = resolveLength(scope, stage.duration);
  if (value?.function !== 'sum') {
    return report(scope, stage.span, 'cuped does not fit these results', 'it goes with results sum(event, field)');
  }
  if (lengthMs === undefined || lengthMs <= BEFORE_DAYS_MAX * DAY_MS) return lengthMs;
  return report(
    scope,
    stage.duration.span,
    `cuped reads at most ${BEFORE_DAYS_MAX} days before the exposure`,
    'write cuped 14d',
  );
}

const BEFORE_DAYS_MAX = 365;

const PERCENT_MAX = 1000;
const PLAN_FORM = `a lift is above 0% and at most ${PERCENT_MAX}%: plan 10%`;

/** The relative lift of `plan 10%`, as a fraction of 1; undefined without it. */
export function takePlannedLift(scope: Scope, stages: StageReader): number | undefined {
  const stage = stages.takeOne('plan');
  if (!stage) return undefined;
  const { amount, hasSign } = stage;
  const number = Number(amount.text);
  if (!hasSign) {
    const percent = number < 1 ? Number((number * 100).toPrecision(12)) : amount.text;
    return report(scope, amount.span, `plan ${amount.text} has no %`, `write plan ${percent}%`);
  }
  if (number > 0 && number <= PERCENT_MAX) return number / 100;
  return report(scope, amount.span, `plan ${amount.text}% is out of range`, PLAN_FORM);
}
