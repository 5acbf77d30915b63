// Analyzer of the source `choice K`: exposure events whose properties have bare names, or with
// `results` the result packet.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeWindow } from '../../analyze/by.js';
import { mentionValues } from '../../analyze/mentions.js';
import { propertyField, resolveEventField, resolveField } from '../../analyze/resolve-field.js';
import type { Condition, EventSelection, EventSet, ResolvedField } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID, findEventField } from '../../fields.js';
import type { FieldName, Text } from '../../parse/syntax.js';
import { analyzeEventRows, type EventsQuery } from '../events/analyze.js';
import { takeGuards, takePlannedLift, takeTimeBefore, takeValue, type ValueOutcome } from './outcome.js';

const EXPOSURE_EVENT = 'service.exposure';
const EXPOSURES = { name: EXPOSURE_EVENT, eventTypes: [EXPOSURE_EVENT], condition: undefined };

const DEFAULT_WINDOW_MS = 7 * 24 * 3_600_000;

export interface ChoiceQuery extends AnswerOrder {
  readonly kind: 'choice_results';
  readonly choiceKey: string;
  readonly conversionEvent: string;
  readonly conversion: EventSet;
  /** Undefined: results are conversions to the event. */
  readonly value: ValueOutcome | undefined;
  readonly guards: readonly EventSet[];
  /** Time before the exposure, of `cuped`. */
  readonly beforeMs: number | undefined;
  /** Relative lift of `plan`, as a fraction of 1. */
  readonly plannedLift: number | undefined;
  readonly unit: ResolvedField;
  readonly windowMs: number;
  /** Selects the exposure events. */
  readonly selection: EventSelection;
  readonly variant: ResolvedField;
  readonly weight: ResolvedField;
}

const PREFIX = /^(event_properties|user_properties|user|session|user_last_session|user_first_session)\./;

/** Event fields take precedence; any other name is a property of the exposure. */
function findExposureField(scope: Scope, name: FieldName): ResolvedField | undefined {
  const isOfEvent = name.path === DISTINCT_ID || findEventField(name.path) !== undefined || PREFIX.test(name.path);
  if (isOfEvent) return resolveEventField(scope, name);
  return propertyField(scope, { name: name.written, bag: 'event_properties', key: name.path });
}

/** A property that the query does not name. */
const exposureProperty = (scope: Scope, key: string): ResolvedField => ({
  kind: 'property',
  name: key,
  bag: 'event_properties',
  key,
  guess: scope.guessOf('event_properties', key),
});

export function analyzeChoice(
  events: Scope,
  { key }: { readonly key: Text },
  stages: StageReader,
): ChoiceQuery | EventsQuery {
  const scope: Scope = { ...events, findField: findExposureField };
  const field = exposureProperty(scope, 'choice_key');
  const values = [{ kind: 'text', text: key.text }] as const;
  const condition: Condition = { kind: 'one_of', field, values };
  scope.mentions.events.add(EXPOSURE_EVENT);
  mentionValues(scope.mentions, field, values);
  const results = stages.takeOne('results');
  if (results) {
    const selection = takeSelection(scope, stages, { events: EXPOSURES, condition, rows: 'unknown' });
    const value = takeValue(events, stages, results);
    const guards = takeGuards(events, stages);
    const beforeMs = takeTimeBefore(events, stages, value);
    const plannedLift = takePlannedLift(events, stages);
    const conversion = results.pattern && resolveEvents(events, results.pattern);
    if (results.call ? !value : !conversion) return undefined;
    return analyzeResults(scope, stages, {
      choiceKey: key.text,
      conversionEvent: results.event.text,
      conversion: conversion ?? { name: results.event.text, eventTypes: [results.event.text], condition: undefined },
      value,
      guards,
      beforeMs,
      plannedLift,
      selection,
    });
  }
  stages.describe({ name: 'choice without results', answers: undefined });
  const ofResults = stages.remove('window', 'unit', 'winsorize', 'guard', 'cuped', 'plan');
  for (const stage of stages.hasBroken ? [] : ofResults) {
    report(scope, stage.span, `${stage.kind} goes with results`, `add: results <conversion event>`);
  }
  return analyzeEventRows(scope, stages, { mode: 'choice', events: EXPOSURES, condition });
}

function analyzeResults(
  scope: Scope,
  stages: StageReader,
  parts: Pick<
    ChoiceQuery,
    'choiceKey' | 'conversionEvent' | 'conversion' | 'value' | 'guards' | 'beforeMs' | 'plannedLift' | 'selection'
  >,
): ChoiceQuery | undefined {
  const windowMs = takeWindow(scope, stages, DEFAULT_WINDOW_MS);
  const unit = takeUnit(scope, stages);
  const answer = takeAnswerOrder(scope, stages, {
    columns: RESULT_COLUMNS,
    ascending: ['variant_key'],
    metric: undefined,
  });
  if (!unit) return undefined;
  return {
    kind: 'choice_results',
    ...parts,
    unit,
    windowMs,
    variant: exposureProperty(scope, 'variant_key'),
    weight: exposureProperty(scope, 'variant_weight'),
    ...answer,
  };
}

const RESULT_COLUMNS = ['variant_key', 'exposures', 'conversions', 'rate', 'ci_low', 'ci_high', 'weight'];
const UNIT_FORM = 'a unit is distinct_id, user_id, device_id, session_id, or event_properties.KEY';
const UNIT_IDS: readonly string[] = ['user_id', 'device_id', 'session_id'];

function takeUnit(scope: Scope, stages: StageReader): ResolvedField | undefined {
  const stage = stages.takeOne('unit');
  if (!stage) return { kind: 'distinct_id', name: DISTINCT_ID };
  const [written, second] = stage.fields;
  if (second) {
    report(scope, second.span, 'a unit of an experiment has one field', `write unit ${written.written}`);
  }
  const field = resolveField(scope, written);
  if (!field) return undefined;
  const isUnit =
    field.kind === 'distinct_id' ||
    (field.kind === 'property' && field.bag === 'event_properties') ||
    (field.kind === 'column' && UNIT_IDS.includes(field.field.name));
  if (isUnit) return field;
  return report(scope, written.span, `${quote(written.written)} is no unit of an experiment`, UNIT_FORM);
}
