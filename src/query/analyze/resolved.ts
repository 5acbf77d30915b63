// Resolved query: fields are looked up, times are instants, defaults are filled in, and short forms
// (`top 5`, a leading pipe, `!=`, `_country`) are expanded.
import type { AnyBag, EventField, Granularity } from '../fields.js';
import type { AggregateName } from '../language.js';
import type { Guess } from '../property-guess.js';
import type { ResolvedSource } from '../sources/index.js';
import type { CalendarSpan } from '../time/range.js';
import type { Mentions } from './mentions.js';

export type ResolvedField =
  | {
      readonly kind: 'column';
      readonly name: string;
      readonly field: EventField;
      /** Where this time is compared with times that have no offset; default: the query's zone. */
      readonly zone?: string;
      /** Whether it has time buckets of the answer: dates, or times in whole seconds. */
      readonly isBucket?: boolean;
      /** The field that gives this column of the answer its values. */
      readonly valuesOf?: ResolvedField;
    }
  | PropertyField
  | { readonly kind: 'distinct_id'; readonly name: string }
  /**
   * A value computed by an earlier step: its text form or time, and its number when that is another
   * column.
   */
  | {
      readonly kind: 'computed';
      readonly name: string;
      readonly alias: string;
      readonly type: 'text' | 'nullable_text' | 'number' | 'time';
      readonly numberAlias: string | undefined;
      /** The property that gives this column of the answer its values. */
      readonly valuesOf?: PropertyField;
    }
  /** Whether the person of a row is in a cohort: `true` or `false`. */
  | CohortField;

export interface CohortField {
  readonly kind: 'cohort';
  readonly name: string;
  readonly condition: Condition;
}

/** `guess` is the assumed type when the text form is read. */
export interface PropertyField {
  readonly kind: 'property';
  readonly name: string;
  readonly bag: AnyBag;
  readonly key: string;
  readonly guess: Guess;
}

export type Literal =
  | { readonly kind: 'text'; readonly text: string }
  /** `text` is the number as written, for comparisons with ids and parts of texts. */
  | { readonly kind: 'number'; readonly value: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'instant'; readonly ms: number };

export type OrderOperator = '<' | '<=' | '>' | '>=';

/** Where a text contains another. */
export type TextPlace = 'anywhere' | 'start' | 'end';

/** Two-valued: a missing field makes every form except `not` false. */
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
  | { readonly kind: 'contains'; readonly field: ResolvedField; readonly place: TextPlace; readonly text: string }
  | { readonly kind: 'matches'; readonly field: ResolvedField; readonly pattern: string }
  | { readonly kind: 'exists'; readonly field: ResolvedField }
  /** Events of the person with this distinct_id, and of users with this e-mail address. */
  | { readonly kind: 'person'; readonly id: string }
  | CallCondition;

/**
 * A number of the events of the row's person, or of those with an equal field: `count(purchase) >=
 * 3`.
 */
export interface CallCondition {
  readonly kind: 'call';
  readonly call: ResolvedCall;
  readonly test: CallTest;
}

export type CallTest =
  | { readonly operator: 'in'; readonly values: readonly number[] }
  | { readonly operator: OrderOperator; readonly value: number }
  | { readonly operator: 'exists' };

export interface ResolvedCall {
  /** Its column in the plan; equal calls of a query have one. */
  readonly name: string;
  readonly events: EventSet;
  readonly measure: Measure;
  /** Field that the aggregated events share with the row: the person, or that of `per`. */
  readonly key: ResolvedField;
  /** What the conditions filter: the person of a profile is its user. */
  readonly rows: 'events' | 'profiles';
  /** Length of the call's own range, which ends with that of the query. */
  readonly last: CalendarSpan | undefined;
  readonly range: TimeRange;
}

/** Half-open range [fromMs, toMs) in epoch milliseconds. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Events of some types (undefined: of any) that meet a condition. */
export interface EventSet {
  /** As the query has it. */
  readonly name: string;
  readonly eventTypes: readonly string[] | undefined;
  readonly condition: Condition | undefined;
}

/** The selected events; without event types, events of all types. */
export interface EventSelection {
  readonly eventTypes: readonly string[] | undefined;
  readonly range: TimeRange;
  readonly condition: Condition | undefined;
}

export type NumericFunction = Exclude<AggregateName, 'count' | 'unique' | 'latest'>;

/** What is counted instead of people: the values of a field, or the pairs of values of two. */
export interface Unit {
  readonly kind: 'unit';
  /** As the query has it. */
  readonly name: string;
  readonly fields: readonly ResolvedField[];
}

export type Measure =
  | { readonly kind: 'count' }
  | { readonly kind: 'unique'; readonly field: ResolvedField | Unit }
  | { readonly kind: 'numeric'; readonly function: NumericFunction; readonly field: ResolvedField };

export type Group =
  /** A period of the time of the row, or of another time. */
  | {
      readonly kind: 'bucket';
      readonly name: string;
      readonly granularity: Granularity;
      readonly of?: ResolvedField;
    }
  /** The lower edge of a step of this width. */
  | { readonly kind: 'number_bucket'; readonly name: string; readonly field: ResolvedField; readonly width: number }
  | { readonly kind: 'field'; readonly name: string; readonly field: ResolvedField };

/** The number that each entity of a group has, for an aggregate of these numbers. */
export interface EachEntity {
  readonly entity: ResolvedField;
  readonly measure: Measure;
  /** Keeps entities by their number. */
  readonly having: Condition | undefined;
}

/**
 * The days of an aggregate's bucket: so many that end with it, or all since the start of the range.
 */
export type MetricWindow = { readonly kind: 'rolling'; readonly days: number } | { readonly kind: 'cumulative' };

/**
 * A sort key of an aggregate: its metric, another computed column, or one of its groups by
 * position.
 */
export type AggregateOrder = { readonly direction: 'asc' | 'desc' } & (
  | { readonly kind: 'metric' }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'group'; readonly index: number }
);

export interface ListOrder {
  readonly direction: 'asc' | 'desc';
  readonly field: ResolvedField;
}

export type ListColumn =
  | { readonly kind: 'field'; readonly name: string; readonly field: ResolvedField }
  | { readonly kind: 'properties'; readonly name: string; readonly bag: AnyBag };

/** Rows of an aggregate that are not events. */
export type Rows =
  | Latest
  /**
   * Sessions that start in the range and have a selected event; `condition` is on session fields.
   */
  | { readonly kind: 'sessions'; readonly condition: Condition | undefined }
  /** Profiles of users last seen in the range. */
  | { readonly kind: 'profiles' };

export type SessionRows = Extract<Rows, { kind: 'sessions' }>;

/** A sort key of a source with fixed answer columns. */
export interface ColumnOrder {
  readonly column: string;
  readonly direction: 'asc' | 'desc';
}

/** The newest value of `field` per value of `entity`. */
export interface Latest {
  readonly kind: 'latest';
  readonly field: ResolvedField;
  readonly entity: ResolvedField;
}

/** Breakdown of an answer by a field. */
export interface Breakdown {
  readonly name: string;
  readonly field: ResolvedField;
}

export type CalendarPeriod = 'day' | 'week' | 'month' | 'quarter' | 'year';

export type ResolvedQuery = ResolvedSource & {
  readonly timezone: string;
  readonly warnings: readonly string[];
  readonly mentions: Mentions;
  /** Whether a group is a cohort. */
  readonly hasCohorts: boolean;
};
