// What a query means: fields are found, times are instants, defaults are filled in, and conveniences (`top 5`, a leading
// pipe, `!=`, `_country`) have become their general forms.
import type { AnyBag, EventField, Granularity } from '../fields.js';
import type { Guess } from '../property-guess.js';

export type ResolvedField =
  | { readonly kind: 'column'; readonly name: string; readonly field: EventField }
  | PropertyField
  | { readonly kind: 'distinct_id'; readonly name: string }
  /** A value that was found for a row before: its text form, or time, and the number in it where that is another column. */
  | {
      readonly kind: 'computed';
      readonly name: string;
      readonly alias: string;
      readonly type: 'text' | 'nullable_text' | 'number' | 'time';
      readonly numberAlias: string | undefined;
    };

/** `guess` is what the property is taken to hold where its text form is read. */
export interface PropertyField {
  readonly kind: 'property';
  readonly name: string;
  readonly bag: AnyBag;
  readonly key: string;
  readonly guess: Guess;
}

export type Literal =
  | { readonly kind: 'text'; readonly text: string }
  /** `text` is the number as it was written, for comparisons with ids and parts of texts. */
  | { readonly kind: 'number'; readonly value: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'instant'; readonly ms: number };

export type OrderOperator = '<' | '<=' | '>' | '>=';

/** Always true or false, never unknown: a field that is missing makes every form but `not` false. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  | { readonly kind: 'one_of'; readonly field: ResolvedField; readonly values: readonly Literal[] }
  | {
      readonly kind: 'order';
      readonly field: ResolvedField;
      readonly operator: OrderOperator;
      readonly value: Literal;
    }
  | { readonly kind: 'contains'; readonly field: ResolvedField; readonly text: string }
  | { readonly kind: 'matches'; readonly field: ResolvedField; readonly pattern: string }
  | { readonly kind: 'exists'; readonly field: ResolvedField }
  /** Events of the person with this distinct_id, and of the users whose profile has this e-mail address. */
  | { readonly kind: 'person'; readonly id: string };

/** From `fromMs` on, and before `toMs`; epoch milliseconds. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The events that a question is about. No event type means all of them. */
export interface EventSelection {
  readonly eventType: string | undefined;
  readonly range: TimeRange;
  readonly condition: Condition | undefined;
}

export type NumericFunction = 'sum' | 'avg' | 'min' | 'max' | 'median' | 'p90' | 'p95' | 'p99';

export type Measure =
  | { readonly kind: 'count' }
  | { readonly kind: 'unique'; readonly field: ResolvedField }
  | { readonly kind: 'numeric'; readonly function: NumericFunction; readonly field: ResolvedField };

export type Group =
  | { readonly kind: 'bucket'; readonly name: string; readonly granularity: Granularity }
  | { readonly kind: 'field'; readonly name: string; readonly field: ResolvedField };

/** A sort key of an aggregate: its metric, or one of its groups by position. */
export type AggregateOrder = { readonly direction: 'asc' | 'desc' } & (
  | { readonly kind: 'metric' }
  | { readonly kind: 'group'; readonly index: number }
);

export interface ListOrder {
  readonly direction: 'asc' | 'desc';
  readonly field: ResolvedField;
}

export type ListColumn =
  | { readonly kind: 'field'; readonly name: string; readonly field: ResolvedField }
  | { readonly kind: 'properties'; readonly name: string; readonly bag: AnyBag };

/** What an aggregate is made over, where it is not the events of the selection themselves. */
export type Rows =
  | Latest
  /** Sessions with at least one event of the selection, which start in its range; `condition` is on their own fields. */
  | { readonly kind: 'sessions'; readonly condition: Condition | undefined }
  /** Profiles of users last seen in the range. */
  | { readonly kind: 'profiles' };

export type SessionRows = Extract<Rows, { kind: 'sessions' }>;

/** A sort key of an answer whose columns are the source's own. */
export interface ColumnOrder {
  readonly column: string;
  readonly direction: 'asc' | 'desc';
}

/** One newest value of `field` for each value of `entity`. */
export interface Latest {
  readonly kind: 'latest';
  readonly field: ResolvedField;
  readonly entity: ResolvedField;
}

/** Where the words of a source say more than what is made of it: the mode of the answer. */
export type SourceMode = 'user' | 'users' | 'sessions' | 'choice' | 'latest_aggregate';

/** A field by which the people of an answer are divided. */
export interface Breakdown {
  readonly name: string;
  readonly field: ResolvedField;
}

export interface FunnelQuery {
  readonly kind: 'funnel';
  /** Of no type: steps and excluded events together are read. */
  readonly selection: EventSelection;
  readonly steps: readonly string[];
  readonly exclude: readonly string[];
  readonly windowMs: number;
  readonly by: Breakdown | undefined;
}

export type CalendarPeriod = 'day' | 'week' | 'month';

export interface RetentionQuery {
  readonly kind: 'retention';
  /** Of no type: start and return events together are read. */
  readonly selection: EventSelection;
  readonly start: string;
  /** Undefined: any event. */
  readonly returning: string | undefined;
  readonly period: CalendarPeriod;
  readonly by: Breakdown | undefined;
  readonly order: readonly ColumnOrder[];
}

export interface StickinessQuery {
  readonly kind: 'stickiness';
  readonly selection: EventSelection;
  readonly order: readonly ColumnOrder[];
}

export interface LifecycleQuery {
  readonly kind: 'lifecycle';
  readonly selection: EventSelection;
  readonly period: CalendarPeriod;
  readonly order: readonly ColumnOrder[];
}

export interface PathsQuery {
  readonly kind: 'paths';
  /** The events that a path may start from, or lead to. */
  readonly selection: EventSelection;
  readonly direction: 'from' | 'to';
  readonly windowMs: number;
  readonly depth: number;
  readonly label: ResolvedField;
  readonly order: readonly ColumnOrder[];
}

/** Arithmetic over aggregates; `event` undefined means events of any type. */
export type FormulaExpression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'term'; readonly event: string | undefined; readonly measure: Measure }
  | {
      readonly kind: 'binary';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: FormulaExpression;
      readonly right: FormulaExpression;
    };

export interface FormulaQuery {
  readonly kind: 'formula';
  /** Of no type: the events of all terms together are read. */
  readonly selection: EventSelection;
  readonly expression: FormulaExpression;
  readonly granularity: Granularity | undefined;
  readonly order: readonly ColumnOrder[];
}

export type ResolvedQuery = {
  readonly timezone: string;
  /** Rows of the answer at most, by a `limit` or `top` stage. */
  readonly rowsMax: number | undefined;
  /** The order of the rows that `top` keeps, where `sort` asks for another one than that by which they are kept. */
  readonly shownOrder?: readonly ColumnOrder[] | undefined;
  readonly warnings: readonly string[];
} & (
  | {
      readonly kind: 'aggregate';
      readonly mode?: SourceMode | undefined;
      readonly rows?: Rows | undefined;
      readonly selection: EventSelection;
      readonly measure: Measure;
      /** What it measures, and the column of the answer that holds it. */
      readonly metric: { readonly name: string; readonly column: string };
      readonly groups: readonly Group[];
      readonly order: readonly AggregateOrder[];
    }
  | FunnelQuery
  | RetentionQuery
  | StickinessQuery
  | LifecycleQuery
  | PathsQuery
  | FormulaQuery
  | {
      readonly kind: 'sessions';
      readonly rows: SessionRows;
      readonly selection: EventSelection;
      readonly order: readonly ColumnOrder[];
    }
  | {
      readonly kind: 'choice_results';
      readonly choiceKey: string;
      readonly conversionEvent: string;
      readonly unit: ResolvedField;
      readonly windowMs: number;
      /** The exposures. */
      readonly selection: EventSelection;
      readonly variant: ResolvedField;
      readonly weight: ResolvedField;
      readonly order: readonly ColumnOrder[];
    }
  | {
      readonly kind: 'fields' | 'inspect';
      readonly selection: EventSelection;
      readonly order: readonly ColumnOrder[];
    }
  | {
      readonly kind: 'latest_values';
      readonly latest: Latest;
      readonly selection: EventSelection;
      readonly order: readonly ListOrder[];
    }
  | {
      readonly kind: 'list';
      readonly mode?: SourceMode | undefined;
      readonly rows?: Rows | undefined;
      readonly selection: EventSelection;
      readonly columns: readonly ListColumn[];
      readonly order: readonly ListOrder[];
    }
);
