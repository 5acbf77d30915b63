// Checks the form of a definition: what its text may be, so that it can stand for its name.
import type { Definition } from '../query/definitions/definitions.js';
import type { QueryProblem, Span } from '../query/errors.js';
import { parse } from '../query/parse/parse.js';
import { type Condition, type Query, type Stage, stagesOf } from '../query/parse/syntax.js';

/** Problems with places in the text of the definition; none for a text with syntax problems. */
export function checkForm({ kind, query: text }: Definition): QueryProblem[] {
  const { query, problems } = parse(text);
  return problems.length > 0 ? [] : FORMS[kind](query);
}

const EVENT_FORM = 'an event is: signup[plan = "pro"], or one of several: (signup, trial[plan = "pro"])';
const COHORT_FORM = 'a cohort is: * | where count(order last 30d) >= 5';
const METRIC_FORM = 'a metric is: formula unique(order) / unique(signup), or order | sum price';

const refuse = (span: Span, message: string, hint: string): QueryProblem[] => [{ span, message, hint }];

const START: Span = { from: 0, to: 0 };

/** Where the source begins, or the first stage that does not fit. */
const placeOf = ({ source, stages }: Query, isFitting: (stage: Stage) => boolean = () => false): Span =>
  stages.find((stage) => !isFitting(stage))?.span ?? (source && source !== 'broken' ? source.span : START);

const FORMS: Readonly<Record<Definition['kind'], (query: Query) => QueryProblem[]>> = {
  event: checkEvent,
  cohort: checkCohort,
  metric: checkMetric,
};

function checkEvent(query: Query): QueryProblem[] {
  const { source, stages } = query;
  const isEvent = source !== undefined && source !== 'broken' && source.kind === 'event';
  if (isEvent && stages.length === 0) return [];
  return refuse(
    placeOf(query),
    isEvent ? 'an event has no stages' : 'this is no event',
    isEvent ? `its conditions go in brackets; ${EVENT_FORM}` : EVENT_FORM,
  );
}

function checkCohort(query: Query): QueryProblem[] {
  const { source, stages } = query;
  const isOfAll = source === undefined || (source !== 'broken' && source.kind === 'all');
  const wheres = stagesOf(stages, 'where').map(({ condition }) => condition);
  const [first] = wheres;
  if (!isOfAll || first === undefined || wheres.length < stages.length) {
    const place = isOfAll ? placeOf(query, ({ kind }) => kind === 'where') : placeOf({ ...query, stages: [] });
    return refuse(place, 'this is no cohort', `${COHORT_FORM}; a range goes into the call`);
  }
  const cohort: Condition = wheres.length === 1 ? first : { kind: 'and', items: wheres, span: first.span };
  const field = fieldOfEvent(cohort);
  if (field === undefined) return [];
  return refuse(
    field.span,
    `${field.written} belongs to events, and a cohort is of people`,
    `write user.KEY, or a call with the condition in brackets: count(page_view[_country = "DE"]) > 0`,
  );
}

/** A field of a condition outside calls that is not of the person. */
function fieldOfEvent(condition: Condition): { readonly span: Span; readonly written: string } | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.map(fieldOfEvent).find((field) => field !== undefined);
    case 'not':
      return fieldOfEvent(condition.item);
    case 'comparison':
      return /^(?:user|cohort|user_first_session|user_last_session)\./.test(condition.field.path)
        ? undefined
        : condition.field;
    case 'call_comparison': {
      const { per } = condition.call;
      return per && { span: per.span, written: `per ${per.written}` };
    }
  }
}

const STAGES_OF_METRICS: readonly string[] = ['where', 'aggregate', 'unit'];

function checkMetric(query: Query): QueryProblem[] {
  const { source, stages } = query;
  const kind = source === 'broken' ? undefined : (source?.kind ?? 'all');
  if (kind === undefined || !['formula', 'event', 'all', 'metric'].includes(kind)) {
    return refuse(placeOf({ ...query, stages: [] }), 'this is no metric', METRIC_FORM);
  }
  const other = stages.find((stage) => !STAGES_OF_METRICS.includes(stage.kind));
  if (other) {
    return refuse(
      other.span,
      'a metric has no range, groups or rows of its own',
      'the query that uses it has them: metric activation | last 30d | by week; conditions of a metric are: where …',
    );
  }
  const aggregates = stagesOf(stages, 'aggregate');
  const [aggregate] = aggregates;
  if (aggregate && (aggregate.per || aggregate.by.length > 0 || aggregates.length > 1)) {
    return refuse((aggregates[1] ?? aggregate).span, 'a metric has one aggregate without groups', METRIC_FORM);
  }
  if (aggregate || kind === 'formula' || kind === 'metric') return [];
  return refuse(
    placeOf(query, () => true),
    'the metric computes nothing',
    METRIC_FORM,
  );
}
