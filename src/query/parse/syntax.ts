// Syntax tree of a query: names are not resolved, stages are in their order, and every node has its span.
import type { Span } from '../errors.js';

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
}

/** An event with its own condition: `page_view[_path = "/"]`. The name is undefined for events of any type. */
export interface EventMatch {
  readonly name: Text | undefined;
  readonly condition: Condition | undefined;
  readonly span: Span;
}

/** What stands where an event stands: events that match one of `matches`. */
export interface EventPattern {
  readonly matches: readonly EventMatch[];
  /** Its name in answers: the text of the query, with single blanks; a quoted name without its quotes. */
  readonly written: string;
  readonly span: Span;
}

/** An aggregate of events, of a formula or of a condition: `sum(purchase, price last 30d per session_id)`. */
export interface Call {
  readonly name: Text;
  readonly event: EventPattern;
  readonly field: FieldName | undefined;
  readonly last: Duration | undefined;
  readonly per: FieldName | undefined;
  readonly span: Span;
}

export type Source = { readonly span: Span } & (
  | { readonly kind: 'all' }
  /**
   * `isLikeStage`: an unquoted name that equals the keyword of a stage, so the source may be
   * missing.
   */
  | { readonly kind: 'event'; readonly event: EventPattern; readonly isLikeStage?: boolean }
  | { readonly kind: 'funnel'; readonly steps: readonly EventPattern[]; readonly exclude: readonly EventPattern[] }
  | { readonly kind: 'retention'; readonly start: EventPattern; readonly returning: EventPattern | undefined }
  | { readonly kind: 'paths'; readonly direction: 'from' | 'to'; readonly anchor: EventPattern }
  | { readonly kind: 'sessions' }
  | { readonly kind: 'lifecycle'; readonly event: EventPattern }
  | { readonly kind: 'stickiness'; readonly event: EventPattern }
  | { readonly kind: 'user'; readonly id: Text }
  | { readonly kind: 'users' }
  | { readonly kind: 'formula'; readonly columns: readonly [FormulaColumn, ...FormulaColumn[]] }
  | { readonly kind: 'fields' }
  | { readonly kind: 'inspect'; readonly event: EventPattern }
  | { readonly kind: 'choice'; readonly key: Text }
);

export type SourceKind = Source['kind'];

export interface FormulaColumn {
  readonly expression: Expression;
  readonly alias: Text | undefined;
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

export const AGGREGATE_NAMES = [
  'count',
  'unique',
  'sum',
  'avg',
  'min',
  'max',
  'median',
  'p90',
  'p95',
  'p99',
  'latest',
] as const;
export type AggregateName = (typeof AGGREGATE_NAMES)[number];

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

export type Stage = { readonly span: Span } & (
  | { readonly kind: 'where'; readonly condition: Condition }
  | { readonly kind: 'last'; readonly duration: Duration }
  | { readonly kind: 'from_to'; readonly from: Text; readonly to: Text }
  | { readonly kind: 'named_range'; readonly word: 'today' | 'yesterday' }
  | { readonly kind: 'this' | 'last_period'; readonly unit: Text }
  | { readonly kind: 'since'; readonly from: Text }
  | {
      readonly kind: 'aggregate';
      readonly name: AggregateName;
      readonly field: FieldName | undefined;
      readonly per: FieldName | undefined;
      readonly by: readonly GroupKey[];
    }
  | { readonly kind: 'list'; readonly fields: readonly FieldName[] }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'limit' | 'depth'; readonly count: Text }
  | { readonly kind: 'top'; readonly count: Text; readonly withOther: boolean }
  | { readonly kind: 'by'; readonly keys: readonly GroupKey[] }
  | { readonly kind: 'window'; readonly duration: Duration }
  | { readonly kind: 'exclude'; readonly events: readonly EventPattern[] }
  | { readonly kind: 'returning'; readonly event: EventPattern }
  | { readonly kind: 'results'; readonly event: Text }
  | { readonly kind: 'unit'; readonly field: FieldName }
  /** A stage with a reported syntax problem. */
  | { readonly kind: 'broken' }
);

export type StageKind = Stage['kind'];

/** `source` is undefined when absent, and `broken` when it has a syntax problem. */
export interface Query {
  readonly source: Source | 'broken' | undefined;
  readonly stages: readonly Stage[];
}
