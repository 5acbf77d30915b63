// Syntax tree of a query: names are not resolved, stages are in their order, and every node has its
// span.
import type { Span } from '../errors.js';
import type { AggregateName, STAGES } from '../language.js';
import type { SOURCES } from '../sources/index.js';

/** A name or text with quotes and escapes decoded. */
export interface Text {
  readonly text: string;
  readonly span: Span;
}

/** `written` is the source text, which names the column; `path` has quoted keys decoded. */
export interface FieldName {
  readonly path: string;
  readonly written: string;
  readonly span: Span;
  /** Only of a cohort in `by`: the condition of its people. */
  readonly cohort?: Condition;
}

/**
 * An event with its own condition: `page_view[_path = "/"]`. The name is undefined for events of
 * any type.
 */
export interface EventMatch {
  readonly name: Text | undefined;
  readonly condition: Condition | undefined;
  readonly span: Span;
}

/** What stands where an event stands: events that match one of `matches`. */
export interface EventPattern {
  readonly matches: readonly EventMatch[];
  /**
   * Its name in answers: the text of the query, with single blanks; a quoted name without its
   * quotes.
   */
  readonly written: string;
  readonly span: Span;
}

/**
 * An aggregate of events, of a formula or of a condition: `sum(purchase, price last 30d per
 * session_id)`.
 */
export interface Call {
  readonly name: Text;
  readonly event: EventPattern;
  readonly field: FieldName | undefined;
  readonly last: Duration | undefined;
  readonly per: FieldName | undefined;
  readonly span: Span;
}

export type SourceKind = keyof typeof SOURCES;

/** A source of this kind: its folder in `sources/` says what it carries. */
export type SourceOf<K extends SourceKind> = {
  [Kind in K]: { readonly kind: Kind; readonly span: Span } & NonNullable<ReturnType<(typeof SOURCES)[Kind]['build']>>;
}[K];
export type Source = SourceOf<SourceKind>;

export interface FormulaColumn {
  readonly expression: Expression;
  readonly alias: Text | undefined;
  /** The expression as the query has it, with single spaces. */
  readonly written: string;
  readonly span: Span;
}

export type Expression = { readonly span: Span } & (
  | ({ readonly kind: 'call' } & Call)
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'negative'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: Expression;
      readonly right: Expression;
    }
);

export type Value = { readonly span: Span } & (
  | { readonly kind: 'text'; readonly text: string }
  /** A word without quotes: text, unless it names a field. */
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'moment'; readonly text: string }
);

export type Condition = { readonly span: Span } & (
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  | {
      readonly kind: 'comparison';
      readonly field: FieldName;
      readonly operator: Text;
      readonly values: readonly Value[];
    }
  | {
      readonly kind: 'call_comparison';
      readonly call: Call;
      readonly operator: Text;
      readonly values: readonly Value[];
    }
);

export type Comparison = Extract<Condition, { kind: 'comparison' }>;
export type CallComparison = Extract<Condition, { kind: 'call_comparison' }>;

/** Without those of the events that calls name. */
export const comparisonsIn = (condition: Condition): Comparison[] =>
  leavesOf(condition).flatMap((leaf) => (leaf.kind === 'comparison' ? [leaf] : []));

export const callComparisonsIn = (condition: Condition): CallComparison[] =>
  leavesOf(condition).flatMap((leaf) => (leaf.kind === 'call_comparison' ? [leaf] : []));

function leavesOf(condition: Condition): (Comparison | CallComparison)[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.flatMap(leavesOf);
    case 'not':
      return leavesOf(condition.item);
    default:
      return [condition];
  }
}

export interface Duration {
  readonly amount: number;
  readonly unit: string;
  readonly span: Span;
}

export interface SortKey {
  readonly field: FieldName;
  /** Undefined when it is not written: it depends on the column. */
  readonly direction: 'asc' | 'desc' | undefined;
}

/** A group of `by`. */
export type GroupKey =
  /** A field or a granularity. */
  | { readonly kind: 'name'; readonly name: FieldName }
  /** Lower edges of a number: `bucket(price, 10)`. */
  | {
      readonly kind: 'bucket';
      readonly function: Text;
      readonly field: FieldName;
      readonly width: Text;
      readonly span: Span;
    }
  /** A period of a time: `day of first_seen`. */
  | { readonly kind: 'period_of'; readonly period: FieldName; readonly field: FieldName; readonly span: Span };

/** What a stage carries besides its kind and span, by the form that the table of stages names. */
export interface StageForms {
  readonly condition: { readonly condition: Condition };
  readonly duration: { readonly duration: Duration };
  readonly moment: { readonly from: Text };
  readonly moments: { readonly from: Text; readonly to: Text };
  /** `this` and `last` have a unit. */
  readonly period: { readonly word: 'today' | 'yesterday' | 'this' | 'last'; readonly unit: Text | undefined };
  readonly aggregate: {
    readonly name: AggregateName;
    readonly field: FieldName | undefined;
    readonly per: FieldName | undefined;
    readonly by: readonly GroupKey[];
  };
  readonly columns: { readonly fields: readonly FieldName[] };
  readonly groups: { readonly keys: readonly GroupKey[] };
  readonly keys: { readonly keys: readonly SortKey[] };
  readonly count: { readonly count: Text };
  readonly top: { readonly count: Text; readonly withOther: boolean };
  readonly fields: { readonly fields: readonly [FieldName, ...FieldName[]] };
  /** An event (`pattern`), or a value of units. */
  readonly outcome: { readonly event: Text; readonly pattern?: EventPattern; readonly call?: Call };
  readonly pattern: { readonly event: EventPattern };
  readonly events: { readonly events: readonly EventPattern[] };
  readonly percent: { readonly amount: Text; readonly hasSign: boolean };
  readonly guards: { readonly events: readonly EventPattern[] };
  readonly optional_duration: { readonly duration: Duration | undefined };
  readonly order: { readonly order: 'any' | 'strict' };
  readonly people: { readonly who: PeopleAsked };
  readonly nothing: object;
  readonly comparison: { readonly to: ComparedTo };
}

/** Which of the people behind an answer. */
export type PeopleAsked =
  | { readonly kind: 'all' }
  /** People at a step, or in a period of retention: of all cohorts, or of one. */
  | { readonly kind: 'at'; readonly number: Text; readonly cohort: Text | undefined }
  | { readonly kind: 'lost_after'; readonly number: Text }
  | { readonly kind: 'status'; readonly status: Text };

/** The earlier range of `compare`. */
export type ComparedTo =
  | { readonly kind: 'previous' | 'weekdays' }
  | { readonly kind: 'duration'; readonly duration: Duration }
  | { readonly kind: 'moments'; readonly from: Text; readonly to: Text };

export type StageKind = keyof typeof STAGES;

/** A stage of this kind. */
export type StageOf<K extends StageKind> = {
  [Kind in K]: { readonly kind: Kind; readonly span: Span } & StageForms[(typeof STAGES)[Kind]['form']];
}[K];

/** `broken`: a stage with a reported syntax problem. */
export type Stage = StageOf<StageKind> | { readonly kind: 'broken'; readonly span: Span };

export const stagesOf = <K extends StageKind>(stages: readonly Stage[], ...kinds: readonly K[]): StageOf<K>[] =>
  stages.filter(({ kind }) => (kinds as readonly string[]).includes(kind)) as unknown[] as StageOf<K>[];

/** `source` is undefined when absent, and `broken` when it has a syntax problem. */
export interface Query {
  readonly source: Source | 'broken' | undefined;
  readonly stages: readonly Stage[];
}
