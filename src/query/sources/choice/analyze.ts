// Analyzer of the source `choice K`: exposure events whose properties have bare names, or with `results` the result packet.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveWindow } from '../../analyze/behaviour.js';
import { propertyField, resolveEventField, resolveField } from '../../analyze/resolve-field.js';
import type { Condition, ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind, onlyStage } from '../../analyze/stages.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID, findEventField } from '../../fields.js';
import type { FieldName, Source, Stage } from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';
import { analyzeEventSource } from '../latest/analyze.js';

type ChoiceSource = Extract<Source, { kind: 'choice' }>;

export const EXPOSURE_EVENT = 'service.exposure';
const EXPOSURES = { name: EXPOSURE_EVENT, eventTypes: [EXPOSURE_EVENT], condition: undefined };

const DEFAULT_DAYS = 30;
const DEFAULT_WINDOW_MS = 7 * 24 * 3_600_000;

const PREFIX = /^(event_properties|user_properties|user|session|user_last_session)\./;

/** Event fields take precedence; any other name is a property of the exposure. */
function findExposureField(scope: Scope, name: FieldName): ResolvedField | undefined {
  const isOfEvent = name.path === DISTINCT_ID || findEventField(name.path) !== undefined || PREFIX.test(name.path);
  if (isOfEvent) return resolveEventField(scope, name);
  return propertyField(scope, { name: name.written, bag: 'event_properties', key: name.path });
}

const exposureProperty = (scope: Scope, key: string): ResolvedField =>
  propertyField(scope, { name: key, bag: 'event_properties', key });

export function analyzeChoice(
  events: Scope,
  { key }: ChoiceSource,
  stages: readonly Stage[],
): ResolvedQuery | undefined {
  const scope: Scope = { ...events, findField: findExposureField };
  const condition: Condition = {
    kind: 'one_of',
    field: exposureProperty(scope, 'choice_key'),
    values: [{ kind: 'text', text: key.text }],
  };
  const results = onlyStage(scope, stages, {
    matches: isKind('results'),
    what: 'results',
    hint: 'one conversion event at a time; use a separate query for the other',
  });
  if (results)
    return analyzeResults(scope, { choiceKey: key.text, conversionEvent: results.event.text, condition, stages });
  for (const stage of stages) {
    if (stage.kind === 'window' || stage.kind === 'unit') {
      report(scope, stage.span, `${stage.kind} goes with results`, `add: results <conversion event>`);
    }
  }
  const form = { mode: 'choice', name: 'choice without results', defaultDays: DEFAULT_DAYS, condition } as const;
  const others = stages.filter((stage) => stage.kind !== 'window' && stage.kind !== 'unit');
  return analyzeEventSource(scope, {
    events: EXPOSURES,
    stages: others,
    form: { ...form, isList: false },
  });
}

interface ResultsParts {
  readonly choiceKey: string;
  readonly conversionEvent: string;
  readonly condition: Condition;
  readonly stages: readonly Stage[];
}

function analyzeResults(scope: Scope, parts: ResultsParts): ResolvedQuery | undefined {
  const { choiceKey, conversionEvent, stages } = parts;
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'choice',
    stages,
    fits: ['results', 'window', 'unit', 'sort'],
    answers: 'has results for each variant',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  const windowMs = resolveWindow(scope, stages, DEFAULT_WINDOW_MS);
  const unit = resolveUnit(scope, stages);
  if (!unit) return undefined;
  return {
    kind: 'choice_results',
    choiceKey,
    conversionEvent,
    unit,
    windowMs,
    selection: {
      eventTypes: [EXPOSURE_EVENT],
      range,
      condition: condition ? { kind: 'and', items: [parts.condition, condition] } : parts.condition,
    },
    variant: exposureProperty(scope, 'variant_key'),
    weight: exposureProperty(scope, 'variant_weight'),
    ...resolveAnswerOrder(scope, stages, {
      columns: RESULT_COLUMNS,
      ascending: ['variant_key'],
      metric: undefined,
    }),
    rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

const RESULT_COLUMNS = ['variant_key', 'exposures', 'conversions', 'rate', 'ci_low', 'ci_high', 'weight'];
const UNIT_FORM = 'a unit is distinct_id, user_id, device_id, session_id, or event_properties.KEY';
const UNIT_IDS: readonly string[] = ['user_id', 'device_id', 'session_id'];

function resolveUnit(scope: Scope, stages: readonly Stage[]): ResolvedField | undefined {
  const stage = onlyStage(scope, stages, { matches: isKind('unit'), what: 'unit', hint: 'remove one of them' });
  if (!stage) return { kind: 'distinct_id', name: DISTINCT_ID };
  const field = resolveField(scope, stage.field);
  if (!field) return undefined;
  const isUnit =
    field.kind === 'distinct_id' ||
    (field.kind === 'property' && field.bag === 'event_properties') ||
    (field.kind === 'column' && UNIT_IDS.includes(field.field.name));
  if (isUnit) return field;
  return report(scope, stage.field.span, `${quote(stage.field.written)} is no unit of an experiment`, UNIT_FORM);
}
