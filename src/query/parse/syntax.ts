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

export interface AnyEvent {
  readonly kind: 'any';
  readonly span: Span;
}

export interface NamedEvent {
  readonly kind: 'named';
  readonly name: string;
  readonly span: Span;
}

export type EventPattern = AnyEvent | NamedEvent;

export type Source = { readonly span: Span } & (
  | { readonly kind: 'all' }
  /**
   * `isLikeStage`: an unquoted name that equals the keyword of a stage, so the source may be
   * missing.
   */
  | { readonly kind: 'event'; readonly event: Text; readonly isLikeStage?: boolean }
  | { readonly kind: 'funnel'; readonly steps: readonly Text[]; readonly exclude: readonly Text[] }
  | { readonly kind: 'retention'; readonly start: Text; readonly returning: EventPattern | undefined }
  | { readonly kind: 'paths'; readonly direction: 'from' | 'to'; readonly anchor: Text }
  | { readonly kind: 'sessions' }
  | { readonly kind: 'lifecycle'; readonly event: EventPattern }
  | { readonly kind: 'stickiness'; readonly event: EventPattern }
  | { readonly kind: 'user'; readonly id: Text }
  | { readonly kind: 'users' }
  | { readonly kind: 'formula'; readonly expression: Expression }
  | { readonly kind: 'fields' }
  | { readonly kind: 'inspect'; readonly event: EventPattern }
  | { readonly kind: 'choice'; readonly key: Text }
);

export type SourceKind = Source['kind'];

export type Expression = { readonly span: Span } & (
  | {
      readonly kind: 'call';
      readonly name: Text;
      readonly event: EventPattern;
      readonly field: FieldName | undefined;
    }
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
  readonly direction: 'asc' | 'desc';
}

export type Stage = { readonly span: Span } & (
  | { readonly kind: 'where'; readonly condition: Condition }
  | { readonly kind: 'last'; readonly duration: Duration }
  | { readonly kind: 'from_to'; readonly from: Text; readonly to: Text }
  | { readonly kind: 'named_range'; readonly word: 'today' | 'yesterday' }
  | { readonly kind: 'this'; readonly unit: Text }
  | {
      readonly kind: 'aggregate';
      readonly name: AggregateName;
      readonly field: FieldName | undefined;
      readonly per: FieldName | undefined;
      readonly by: readonly FieldName[];
    }
  | { readonly kind: 'list'; readonly fields: readonly FieldName[] }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'limit' | 'top' | 'depth'; readonly count: Text }
  | { readonly kind: 'by'; readonly fields: readonly FieldName[] }
  | { readonly kind: 'window'; readonly duration: Duration }
  | { readonly kind: 'exclude'; readonly events: readonly Text[] }
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
