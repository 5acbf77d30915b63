// Replaces the names of definitions in a query by what they stand for, before the query is
// analyzed: an event wherever an event stands, a cohort in conditions, and a metric as the source.
// What comes from a definition has the place of the name in the query, so that every problem points
// there.
import { findRowFilters } from '../analyze/row-filters.js';
import { CompileWork } from '../compile-work.js';
import { type QueryProblem, quote, type Span } from '../errors.js';
import { FORM_LIMITS, QUERY_BYTES_MAX } from '../limits.js';
import type { Condition, EventMatch, EventPattern, GroupKey, Query, Source, Stage } from '../parse/syntax.js';
import { stagesOf } from '../parse/syntax.js';
import { COHORT_PREFIX, type Definition, type DefinitionKind, type Definitions } from './definitions.js';
import { cohortOf, eventOf, readDefinition } from './read.js';

export interface Expanded {
  readonly query: Query;
  /** The definitions that the query uses, in the order of their first use. */
  readonly used: Definitions;
  /** The used definitions that the text of the query itself names. */
  readonly named: Definitions;
  readonly problems: readonly QueryProblem[];
}

/** Throws TooMuchText when the definitions exceed what `work` allows. */
export function expandDefinitions(query: Query, definitions: Definitions = [], work = new CompileWork()): Expanded {
  const expansion = new Expansion(indexOf(definitions), definitions, work);
  const expanded = expansion.query(query);
  return { query: expanded, used: [...expansion.used], named: [...expansion.named], problems: expansion.problems };
}

/** Problems in the text of a definition name it, and nothing in the query repairs them. */
export const nameDefinitions = (problems: readonly QueryProblem[]): QueryProblem[] =>
  problems.map(({ span, message, hint, ...rest }) => {
    if (span.within === undefined) return { span, message, hint, ...rest };
    const { kind, name, line } = span.within.definition;
    return { span, message: `in the ${kind} ${name} (line ${line} of the definitions): ${message}`, hint };
  });

type Index = ReadonlyMap<string, Definition>;

const indexes = new WeakMap<Definitions, Index>();
const keyOf = (kind: DefinitionKind, name: string): string => `${kind} ${name}`;

function indexOf(definitions: Definitions): Index {
  const before = indexes.get(definitions);
  if (before) return before;
  const index = new Map(definitions.map((definition) => [keyOf(definition.kind, definition.name), definition]));
  indexes.set(definitions, index);
  return index;
}

// Bound the size and the nesting of the expanded query, whose form is checked against the limits
// afterwards. The text of all definitions together is at most that of a query.
const USES_MAX = 200;
const CHARACTERS_MAX = QUERY_BYTES_MAX;
const EVENTS_MAX = FORM_LIMITS.events.max;
const NESTED_MAX = 4;
const LISTED_MAX = 10;

type Comparison = Extract<Condition, { kind: 'comparison' }>;
type Group = Extract<GroupKey, { kind: 'name' }>;
type MetricSource = Extract<Source, { kind: 'metric' }>;

/** Has no meaning: it stands for a condition whose problem is reported. */
const noCondition = (span: Span): Condition => ({ kind: 'and', items: [], span });

/** Lists of values may be long. */
const WITHOUT_EVENTS: ReadonlySet<string> = new Set(['span', 'values']);

class Expansion {
  readonly used = new Set<Definition>();
  readonly named = new Set<Definition>();
  readonly problems: QueryProblem[] = [];
  /** The definitions that are being expanded, outermost first. */
  private readonly path: Definition[] = [];
  private uses = 0;
  private characters = 0;
  /** Whether a problem is reported that would come again and again: no further one is read. */
  private isFull = false;

  constructor(
    private readonly index: Index,
    private readonly all: Definitions,
    private readonly work: CompileWork,
  ) {}

  query(query: Query): Query {
    const { source } = query;
    return source !== undefined && source !== 'broken' && source.kind === 'metric'
      ? this.metric(source, query.stages)
      : { source: this.walk(source), stages: this.stages(query) };
  }

  /** Filters of rows compare the columns of cohorts, not the people in them. */
  private stages(query: Query, known: readonly Stage[] = []): Stage[] {
    const kept = new Set<Stage>([...known, ...findRowFilters(query)]);
    return query.stages.map((stage) => (kept.has(stage) ? stage : this.walk(stage)));
  }

  /** Every event and every condition in the node; nodes without a definition stay the same. */
  private walk<T>(node: T): T {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) {
      const items = node.map((item) => this.walk(item));
      return (items.some((item, at) => item !== node[at]) ? items : node) as T;
    }
    if ('matches' in node) return this.pattern(node as unknown as EventPattern) as T;
    if ('operator' in node && 'field' in node) return this.comparison(node as unknown as Comparison) as T;
    if ('kind' in node && node.kind === 'name') return this.group(node as unknown as Group) as T;
    let changed: Record<string, unknown> | undefined;
    for (const [key, value] of Object.entries(node)) {
      const expanded = WITHOUT_EVENTS.has(key) ? value : this.walk(value);
      if (expanded !== value) changed = { ...(changed ?? node), [key]: expanded };
    }
    return (changed ?? node) as T;
  }

  private pattern(pattern: EventPattern): EventPattern {
    const matches = pattern.matches.flatMap((match) => this.match(match));
    const isSame =
      matches.length === pattern.matches.length && matches.every((match, at) => match === pattern.matches[at]);
    return isSame ? pattern : { ...pattern, matches };
  }

  private match(match: EventMatch): readonly EventMatch[] {
    const condition = this.walk(match.condition);
    const own = condition === match.condition ? match : { ...match, condition };
    const definition = match.name && this.index.get(keyOf('event', match.name.text));
    if (match.name === undefined || definition === undefined) return [own];
    const event = this.enter(definition, match.name.span, (query) => this.walk(eventOf(query)));
    if (event && event.matches.length > EVENTS_MAX) {
      // Each would get the condition of the match.
      const message = `the event ${definition.name} is one of ${event.matches.length} events; the limit is ${EVENTS_MAX}`;
      this.fill(match.name.span, message, FORM_LIMITS.events.hint);
      return [own];
    }
    return event?.matches.map((of) => ({ ...of, condition: both(of.condition, condition, match.span) })) ?? [own];
  }

  /** A group of `by`. */
  private group(group: Group): Group {
    const { path, span } = group.name;
    if (!path.startsWith(COHORT_PREFIX)) return group;
    const definition = this.require('cohort', path.slice(COHORT_PREFIX.length), span, COHORT_PREFIX);
    const cohort = definition && this.enter(definition, span, (query) => this.walk(cohortOf(query)));
    return { ...group, name: { ...group.name, cohort: cohort ?? noCondition(span) } };
  }

  private comparison(comparison: Comparison): Condition {
    const { field, operator, values, span } = comparison;
    if (!field.path.startsWith(COHORT_PREFIX)) return comparison;
    const definition = this.require('cohort', field.path.slice(COHORT_PREFIX.length), field.span, COHORT_PREFIX);
    if (definition === undefined) return noCondition(span);
    const [value] = values;
    const isPositive = operator.text === '=' || operator.text === 'in';
    if (!isPositive && operator.text !== '!=' && operator.text !== 'not in') {
      return this.refuse(operator.span, `${operator.text} does not fit ${field.written}`, isTrueOrFalse(field.written));
    }
    if (value?.kind !== 'boolean' || values.length > 1) {
      return this.refuse(
        values[1]?.span ?? value?.span ?? span,
        `${field.written} is compared with true or false`,
        isTrueOrFalse(field.written),
      );
    }
    const cohort = this.enter(definition, field.span, (query) => this.walk(cohortOf(query)));
    if (cohort === undefined) return noCondition(span);
    return value.value === isPositive ? cohort : { kind: 'not', item: cohort, span };
  }

  private metric({ name }: MetricSource, stages: readonly Stage[]): Query {
    const broken: Query = { source: 'broken', stages: [] };
    const definition = this.require('metric', name.text, name.span);
    if (definition === undefined) return broken;
    const own = this.enter(definition, name.span, (query) => this.query(query));
    if (own === undefined) return broken;
    const isNumber = ({ kind }: Stage): boolean => kind === 'aggregate' || kind === 'list';
    for (const stage of stagesOf(stages, 'aggregate', 'list')) {
      const word = stage.kind === 'aggregate' ? stage.name : stage.kind;
      this.refuse(
        stage.span,
        `${word} does not fit metric ${name.text}, which computes its own number`,
        'a metric takes a range, where, by, compare and sort; remove the stage',
      );
    }
    const asked = stages.filter((stage) => !isNumber(stage));
    const query = { source: own.source, stages: joined(own, asked) };
    return { source: own.source, stages: this.stages(query, own.stages) };
  }

  /** The part of the definition that is read, at the place of its name. */
  private enter<T>(definition: Definition, at: Span, read: (query: Query) => T | undefined): T | undefined {
    const { kind, name } = definition;
    if (this.path.length === 0) this.named.add(definition);
    if (this.isFull) return undefined;
    if (this.path.includes(definition)) {
      const round = [...this.path.slice(this.path.indexOf(definition)), definition].map((of) => of.name);
      return this.fill(at, `the ${kind} ${name} is part of itself: ${round.join(' → ')}`, 'remove it from one of them');
    }
    if (this.path.length >= NESTED_MAX) {
      return this.fill(
        at,
        `more than ${NESTED_MAX} definitions are within each other`,
        'write the text of one of them',
      );
    }
    this.uses += 1;
    if (this.uses > USES_MAX) {
      return this.fill(at, `definitions are used more than ${USES_MAX} times`, 'ask in several queries');
    }
    this.characters += definition.query.length;
    if (this.characters > CHARACTERS_MAX) {
      const message = `with the text of the ${kind} ${name}, the definitions of the query have more than ${CHARACTERS_MAX} characters`;
      return this.fill(at, message, 'use fewer definitions, or shorter ones; each use counts');
    }
    this.work.read(definition);
    this.used.add(definition);
    const { problems, query } = readDefinition(definition);
    for (const problem of problems) this.problems.push({ ...problem, span: placed(problem.span, at, definition) });
    if (problems.length > 0) return undefined;
    this.path.push(definition);
    const found = read(withPlaces(query, at, definition));
    this.path.pop();
    return found;
  }

  private require(kind: DefinitionKind, name: string, span: Span, prefix = ''): Definition | undefined {
    const found = this.index.get(keyOf(kind, name));
    if (found !== undefined) return found;
    const names = this.all.filter((definition) => definition.kind === kind).map((definition) => definition.name);
    const nearest = this.work.nearest.find(kind, name, () => names);
    const listed = names.slice(0, LISTED_MAX).join(', ') + (names.length > LISTED_MAX ? ', …' : '');
    this.problems.push({
      span,
      message: `no ${kind} ${quote(name)} is defined in this project`,
      hint:
        nearest !== undefined
          ? `nearest is "${nearest}"`
          : names.length > 0
            ? `${kind}s are ${listed}`
            : `the project defines no ${kind}; definitions are stored with PUT /api/definitions`,
      replacement: nearest && prefix + nearest,
    });
    return undefined;
  }

  private fill(span: Span, message: string, hint: string): undefined {
    this.isFull = true;
    return this.report(span, message, hint);
  }

  private refuse(span: Span, message: string, hint: string): Condition {
    this.report(span, message, hint);
    return noCondition(span);
  }

  private report(span: Span, message: string, hint: string): undefined {
    this.problems.push({ span, message, hint });
    return undefined;
  }
}

const isTrueOrFalse = (written: string): string => `a cohort is true or false: ${written} = true`;

function both(one: Condition | undefined, other: Condition | undefined, span: Span): Condition | undefined {
  return one && other ? { kind: 'and', items: [one, other], span } : (one ?? other);
}

/** They concern rows of the answer. */
const BEHIND_AGGREGATE: ReadonlySet<Stage['kind']> = new Set(['by', 'sort', 'top', 'limit']);

/**
 * The stages of a metric before those of the query. Its aggregate, with the filters of its rows,
 * stands before the first stage that concerns rows of the answer, such as a `where` that names its
 * column.
 */
function joined({ source, stages: own }: Query, asked: readonly Stage[]): Stage[] {
  const [aggregate] = stagesOf(own, 'aggregate');
  if (aggregate === undefined) return [...own, ...asked];
  const ofRows = new Set<Stage>(findRowFilters({ source, stages: [aggregate, ...asked] }));
  const first = asked.findIndex((stage) => BEHIND_AGGREGATE.has(stage.kind) || ofRows.has(stage));
  const at = first < 0 ? asked.length : first;
  const filters = new Set<Stage>(findRowFilters({ source, stages: own }));
  const others = own.filter((stage) => stage !== aggregate && !filters.has(stage));
  return [...others, ...asked.slice(0, at), aggregate, ...filters, ...asked.slice(at)];
}

const placed = ({ from, to }: Span, at: Span, definition: Definition): Span => ({
  from: at.from,
  to: at.to,
  within: { definition, from, to },
});

/** The same nodes with the place of the name, and with their own within the definition. */
function withPlaces<T>(node: T, at: Span, definition: Definition): T {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => withPlaces(item, at, definition)) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    copy[key] = key === 'span' ? placed(value as Span, at, definition) : withPlaces(value, at, definition);
  }
  return copy as T;
}
