// Types of questions, one for each source of the query language. `to-query-text.ts` formats them,
// `answer.ts` answers them.

/**
 * A field as the language names it, its key unquoted: `_path`, `event_properties.Button Name`,
 * `session.duration`.
 */
export type Field = string;

/** Whether the person of an event is in the cohort of the question: `true` or `false`. */
export const COHORT: Field = 'cohort.it';

export type Literal = string | number | boolean;

export type CompareOperator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'contains'
  | 'not contains'
  | 'starts with'
  | 'not starts with'
  | 'ends with'
  | 'not ends with'
  | '~'
  | '!~';

export type Condition =
  | { readonly kind: 'compare'; readonly field: Field; readonly operator: CompareOperator; readonly value: Literal }
  | { readonly kind: 'in'; readonly field: Field; readonly negated: boolean; readonly values: readonly Literal[] }
  | { readonly kind: 'exists'; readonly field: Field; readonly negated: boolean }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Condition[] }
  | CallCondition
  /** A call whose values are known. */
  | { readonly kind: 'bound'; readonly holds: (item: unknown) => boolean };

/**
 * A number of the person's events, or of the events with an equal field. Not in conditions of a
 * match.
 */
export interface CallCondition {
  readonly kind: 'call';
  readonly function: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'unique';
  readonly event: Events;
  readonly field?: Field;
  readonly last?: Span;
  readonly per?: Field;
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>=';
  readonly value: number;
}

/** An event type (null: any type) with its own conditions, joined with `and`. */
export interface Match {
  readonly event: string | null;
  readonly where: readonly Condition[];
}

/**
 * What stands where an event stands: an event type, null for any event, or events of one of several
 * matches.
 */
export type Events = string | null | readonly Match[];

export type SpanUnit = 'm' | 'h' | 'd' | 'w' | 'mo' | 'y';
export interface Span {
  readonly count: number;
  readonly unit: SpanUnit;
}

export type Range =
  | { readonly kind: 'last'; readonly span: Span }
  /** Dates (`2026-11-20`) or timestamps (`2026-11-20T09:30:00`, with or without an offset). */
  | { readonly kind: 'from'; readonly from: string; readonly to: string }
  | { readonly kind: 'today' | 'yesterday' }
  | { readonly kind: 'this'; readonly unit: 'week' | 'month' | 'quarter' | 'year' };

export type CalendarUnit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
/** Periods of a calendar, and parts of a time that repeat: 1 (Monday) to 7, and 0 to 23. */
export type TimeUnit = CalendarUnit | 'weekday' | 'hour_of_day';

export type Group =
  /** A period of the time of the row, or of a field. */
  | { readonly kind: 'time'; readonly unit: TimeUnit; readonly of?: Field }
  /** Steps of a number. */
  | { readonly kind: 'bucket'; readonly field: Field; readonly width: number }
  | { readonly kind: 'field'; readonly field: Field };

export type FieldAggregate = 'sum' | 'avg' | 'min' | 'max' | 'median' | 'p90' | 'p95' | 'p99';
export type Aggregate =
  | { readonly kind: 'count' }
  | { readonly kind: 'unique'; readonly field?: Field }
  | { readonly kind: FieldAggregate; readonly field: Field };

/** How the rows are read: as they are, or as one aggregate over groups. */
export type Reading =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'aggregate';
      readonly aggregate: Aggregate;
      readonly by: readonly Group[];
      /** Keeps rows of the answer, by their metric. */
      readonly having?: Having;
      readonly window?: Window;
      readonly share?: boolean;
      /** The aggregate is of the numbers that this one has for each. */
      readonly each?: Each;
    };

export interface Each {
  readonly aggregate: Aggregate;
  readonly per: Field;
  /** Keeps those with such a number. */
  readonly having?: Having;
}

/**
 * The events of a bucket: those of the days that end with it, or all since the start of the range.
 */
export type Window = { readonly kind: 'rolling'; readonly days: number } | { readonly kind: 'cumulative' };

export interface Having {
  readonly column: string;
  readonly operator: '=' | '!=' | '<' | '>=';
  readonly value: number;
}

export type Ending =
  /**
   * With `top`, it orders the rows with the largest metric; with `limit`, it decides which rows
   * these are.
   */
  | {
      readonly kind: 'sort';
      readonly column: string;
      readonly descending: boolean;
      readonly limit?: number;
      readonly top?: number;
      /** `top … other` */
      readonly other?: true;
    }
  | { readonly kind: 'limit'; readonly count: number }
  | { readonly kind: 'top'; readonly count: number; readonly other?: true };

/** The earlier range of `compare`. */
export type Comparison =
  | { readonly kind: 'previous' | 'weekdays' }
  | { readonly kind: 'span'; readonly span: Span }
  | Extract<Range, { kind: 'from' }>;

interface Asked {
  readonly range?: Range;
  readonly compare?: Comparison;
  /** What is counted instead of people: values of a field, or of two. */
  readonly unit?: readonly Field[];
  /** The conditions of COHORT, by which the answer is grouped. */
  readonly cohort?: readonly Condition[];
  /** Joined with `and`, one stage each. */
  readonly where?: readonly Condition[];
}

export interface EventsQuestion extends Asked {
  readonly source: 'events';
  readonly event: Events;
  readonly reading?: Reading;
  readonly ending?: Ending;
}

export interface LatestQuestion extends Asked {
  readonly source: 'latest';
  readonly event: Events;
  readonly field: Field;
  readonly per?: Field;
  /** `list` and no reading mean the same. */
  readonly reading?: Reading;
  readonly ending?: Ending;
}

export interface FunnelQuestion extends Asked {
  readonly source: 'funnel';
  readonly steps: readonly Events[];
  readonly exclude: readonly Events[];
  readonly window?: Span;
  /** Written: each step after the one before. */
  readonly order?: 'any' | 'strict';
  readonly period?: CalendarPeriod;
  readonly by?: Field;
  /** The times of the steps, or their histogram by this width. */
  readonly times?: 'all' | Span;
}

export type CalendarPeriod = 'day' | 'week' | 'month';

export interface RetentionQuestion extends Asked {
  readonly source: 'retention';
  readonly event: Events;
  readonly returning?: Events;
  readonly period?: CalendarPeriod | 'quarter' | 'year';
  readonly by?: Field;
  readonly unbounded?: boolean;
  /** The first start event ever, not the first in the range. */
  readonly first?: boolean;
  readonly window?: Span;
  readonly sum?: Field;
}

export interface PathsQuestion extends Asked {
  readonly source: 'paths';
  readonly direction: 'from' | 'to';
  readonly event: Events;
  readonly window?: Span;
  readonly depth?: number;
  readonly by?: Field;
  readonly limit?: number;
}

export interface SessionsQuestion extends Asked {
  readonly source: 'sessions';
  readonly reading?: Extract<Reading, { kind: 'aggregate' }>;
  readonly ending?: Ending;
}

export interface LifecycleQuestion extends Asked {
  readonly source: 'lifecycle';
  readonly event: Events;
  readonly period?: CalendarPeriod;
}

export interface StickinessQuestion extends Asked {
  readonly source: 'stickiness';
  readonly event: Events;
}

export interface UserQuestion extends Asked {
  readonly source: 'user';
  readonly id: string;
  readonly reading?: Reading;
  readonly ending?: Ending;
}

export interface UsersQuestion extends Asked {
  readonly source: 'users';
  readonly reading?: Reading;
  readonly ending?: Ending;
}

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'term';
      readonly function: 'count' | 'unique' | 'sum' | 'avg';
      readonly event: Events;
      readonly field?: Field;
      /** The call's own range. */
      readonly last?: Span;
    }
  | {
      readonly kind: 'binary';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: Expression;
      readonly right: Expression;
    };

export interface FormulaQuestion extends Asked {
  readonly source: 'formula';
  readonly columns: readonly [FormulaColumn, ...FormulaColumn[]];
  readonly by?: readonly Group[];
  /** Keeps rows of the answer, by one of the columns. */
  readonly having?: Having;
  readonly ending?: Ending;
}

export interface FormulaColumn {
  readonly name?: string;
  readonly expression: Expression;
}

export interface FieldsQuestion extends Asked {
  readonly source: 'fields';
}

export interface InspectQuestion extends Asked {
  readonly source: 'inspect';
  readonly event: string | null;
}

/** Conversions to an event, or a value of units. */
export interface Results {
  readonly event: string;
  readonly value?: Value;
  /** Both change no row: experiment-values.test.ts compares what they do. */
  readonly cuped?: Span;
  readonly guards?: readonly Events[];
  /** Percent. */
  readonly plan?: number;
  readonly window?: Span;
  readonly unit?: Field;
}

export interface Value {
  readonly function: 'sum' | 'avg';
  readonly event: Events;
  readonly field: Field;
  /** `winsorize off` */
  readonly isWhole?: boolean;
}

export interface ChoiceQuestion extends Asked {
  readonly source: 'choice';
  readonly choice: string;
  /** Without it the choice is a source of exposure events. */
  readonly results?: Results;
  readonly reading?: Extract<Reading, { kind: 'aggregate' }>;
  readonly ending?: Ending;
}

export type Question =
  | EventsQuestion
  | LatestQuestion
  | FunnelQuestion
  | RetentionQuestion
  | PathsQuestion
  | SessionsQuestion
  | LifecycleQuestion
  | StickinessQuestion
  | UserQuestion
  | UsersQuestion
  | FormulaQuestion
  | FieldsQuestion
  | InspectQuestion
  | ChoiceQuestion;
