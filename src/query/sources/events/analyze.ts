// Analyzer of the event source and `*`: an aggregate over events, a list of events, or the latest
// values of a field.
import { type AggregateQuery, takeAggregate } from '../../analyze/aggregate.js';
import { type ListDefaults, type ListQuery, takeList } from '../../analyze/list.js';
import { type EventPeopleQuery, takeEventPeople } from '../../analyze/people.js';
import { takeOfEntities } from '../../analyze/per-entity.js';
import type {
  Condition,
  EachEntity,
  EventSelection,
  EventSet,
  ListColumn,
  Measure,
  ResolvedField,
  Rows,
} from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import { type StageReader, wordingOf } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import { LIST_COLUMNS, PROPERTY_BAGS, type PropertyBag, requireEventField } from '../../fields.js';
import type { EventPattern, StageOf } from '../../parse/syntax.js';
import { analyzeLatest, type LatestQuery } from '../latest/analyze.js';

export interface EventSource {
  readonly event: EventPattern;
  /** An unquoted name that equals the keyword of a stage, so the source may be missing. */
  readonly isLikeStage?: boolean;
}

/**
 * A forgotten source reads a stage word as an event type that no client sends: warn, because zeros
 * look like an answer.
 */
const warningOfStage = (word: string): string =>
  `${word} is read as a type of events here; for all events write * | ${word}, for events that are called so "${word}"`;

export function analyzeEvent(scope: Scope, { event, isLikeStage }: EventSource, stages: StageReader): EventsQuery {
  if (isLikeStage) scope.warnings.push(warningOfStage(event.written));
  return analyzeEventRows(scope, stages, { events: resolveEvents(scope, event) });
}

/** Additions of sources whose rows are events too (user, choice). */
export interface EventForm {
  /** Undefined: events of any type. */
  readonly events?: EventSet | undefined;
  readonly mode?: string;
  /** Restricts the events of the source. */
  readonly condition?: Condition;
  /** Whether the default is a list instead of a count. */
  readonly isListed?: boolean;
}

export type EventsQuery = AggregateQuery | ListQuery | LatestQuery | EventPeopleQuery | undefined;

/** Events as rows, or latest values when the first aggregate is `latest`. */
export function analyzeEventRows(scope: Scope, stages: StageReader, form: EventForm = {}): EventsQuery {
  const aggregates = stages.takeAll('aggregate');
  const selection = takeSelection(scope, stages, form);
  const [first, ...others] = aggregates;
  const late = first?.name === 'latest' ? undefined : others.find((stage) => stage.name === 'latest');
  stages.checkOrder(late);
  if (first?.name === 'latest') return analyzeLatest(scope, stages, { stage: first, others, selection });
  if (late) {
    report(
      scope,
      late.span,
      `latest comes after ${first?.name}`,
      'latest comes first, and an aggregate may follow: latest event_properties.plan | count by last_value',
    );
  }
  const people = takeEventPeople(scope, stages, selection);
  if (people) return people;
  const { mode, isListed } = form;
  const rows = { selection, mode, isListed, noun: 'events', defaults: OF_EVENTS, person: PERSON };
  const rest = aggregates.filter((stage) => stage !== late);
  if (first?.per) {
    const parts = { stage: first, per: first.per, others: rest.slice(1), person: PERSON };
    const of = late ? undefined : takeOfEntities(scope, stages, parts);
    if (of) return analyzeRows(scope, stages, { ...rows, ...of });
    stages.takeAll('by', 'list', 'sort', 'top', 'limit', 'compare', 'rolling', 'cumulative', 'share');
    stages.takeRowFilters();
    return undefined;
  }
  const aggregate = stages.only(rest, TWO_AGGREGATES);
  return analyzeRows(scope, stages, { ...rows, aggregate });
}

const TWO_AGGREGATES = {
  ...wordingOf('aggregate'),
  hint: 'a query has one aggregate, or one of numbers: count per distinct_id | p90 count',
};

interface RowsParts {
  readonly aggregate: StageOf<'aggregate'> | undefined;
  readonly measure?: Measure;
  readonly each?: EachEntity;
  readonly selection: EventSelection;
  readonly mode?: string | undefined;
  readonly rows?: Rows;
  readonly isListed?: boolean | undefined;
  readonly noun: string;
  readonly defaults: ListDefaults;
  readonly person: ResolvedField;
}

/** An aggregate over rows, or a list of them. */
export function analyzeRows(
  scope: Scope,
  stages: StageReader,
  { aggregate, isListed, noun, defaults, person, ...of }: RowsParts,
): AggregateQuery | ListQuery | undefined {
  const list = stages.takeOne('list');
  const by = stages.takeAll('by');
  if (list && aggregate) {
    stages.takeAll('sort', 'top', 'limit');
    return report(
      scope,
      list.span,
      `list does not go with ${aggregate.name}`,
      `list shows ${noun}, an aggregate sums them up: leave one out`,
    );
  }
  const isList = list || (isListed && !aggregate && by.length === 0);
  if (!isList) return takeAggregate(scope, stages, { aggregate, by, person, ...of });
  for (const stage of by) report(scope, stage.span, 'by does not go with list', 'group an aggregate: count by day');
  return takeList(scope, stages, { list, defaults, ...of });
}

const columnField = (name: Parameters<typeof requireEventField>[0] | 'distinct_id'): ResolvedField =>
  name === 'distinct_id' ? { kind: name, name } : { kind: 'column', name, field: requireEventField(name) };

const isBag = (name: string): name is PropertyBag => Object.hasOwn(PROPERTY_BAGS, name);

const OF_EVENTS: ListDefaults = {
  columns: LIST_COLUMNS.map(
    (name): ListColumn =>
      isBag(name) ? { kind: 'properties', name, bag: name } : { kind: 'field', name, field: columnField(name) },
  ),
  order: { direction: 'desc', field: columnField('time') },
  bags: { event_properties: 'event_properties', user_properties: 'user_properties' },
};

const PERSON: ResolvedField = { kind: 'distinct_id', name: 'distinct_id' };
