// Analyzer of the source `paths`.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy, takeWindow } from '../../analyze/by.js';
import type { Breakdown, EventSelection, ResolvedField, Unit } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { resolveEvents } from '../../conditions/events.js';
import { requireEventField } from '../../fields.js';
import type { EventPattern } from '../../parse/syntax.js';

const DEFAULT_DEPTH = 5;
const DEFAULT_ROWS = 20;

export interface PathsSource {
  readonly direction: 'from' | 'to';
  readonly anchor: EventPattern;
}

export interface PathsQuery extends AnswerOrder {
  readonly kind: 'paths';
  /** The anchor events of the paths. */
  readonly selection: EventSelection;
  /** What is counted; undefined: people. */
  readonly unit: Unit | undefined;
  readonly direction: 'from' | 'to';
  readonly windowMs: number;
  readonly depth: number;
  readonly label: ResolvedField;
  /** The cohort by which people are counted. */
  readonly by: Breakdown | undefined;
}

export function analyzePaths(scope: Scope, source: PathsSource, stages: StageReader): PathsQuery {
  const selection = takeSelection(scope, stages, { events: resolveEvents(scope, source.anchor) });
  const windowMs = takeWindow(scope, stages);
  const depth = stages.takeOne('depth');
  const { breakdown, cohort } = takeBy(scope, stages, { granularities: [], takesField: true, takesCohort: true });
  const groups = cohort ? [cohort.name] : [];
  const answer = takeAnswerOrder(scope, stages, {
    columns: [...groups, 'path', 'users'],
    ascending: [...groups, 'path'],
    metric: 'users',
  });
  return {
    kind: 'paths',
    selection,
    unit: takeUnit(scope, stages),
    direction: source.direction,
    windowMs,
    depth: (depth && stages.countOf(depth)) ?? DEFAULT_DEPTH,
    label: breakdown?.field ?? { kind: 'column', name: 'event_type', field: requireEventField('event_type') },
    by: cohort,
    ...answer,
    rowsMax: answer.rowsMax ?? DEFAULT_ROWS,
  };
}
