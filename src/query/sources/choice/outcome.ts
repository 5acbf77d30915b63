// The value of units in results of an experiment: `results sum(purchase, price)`, and `winsorize off`.
import { isTimeField } from '../../analyze/resolve-field.js';
import type { EventSet, ResolvedField } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { findFieldOrProperty, resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import type { Call, StageOf } from '../../parse/syntax.js';

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
