// Plan types: selects over scans and named steps, complete except for SQL syntax. A scan requires a
// ProjectId.

import type { ProjectId } from '../../platform/ids.js';
import type { ColumnOrder, TimeRange } from '../analyze/resolved.js';
import type { Definitions } from '../definitions/definitions.js';
import type { PartialBuckets } from '../time/partial-buckets.js';
import type { Expression } from './expressions.js';

/**
 * Rows with a name, printed as a common table expression. ClickHouse computes a step for every
 * select that reads it, so each step with a scan of events must be read once.
 */
export interface Step {
  readonly kind: 'step';
  /** Words joined by `_`, not the name of a table. */
  readonly name: string;
  readonly rows: Select | Union;
}

/** All rows of several selects, which have the same columns. */
export interface Union {
  readonly kind: 'union';
  readonly selects: readonly Select[];
}

/** Expressions by alias, in the order of the columns. */
export type Columns = Readonly<Record<string, Expression>>;

export interface Select {
  readonly kind: 'select';
  /** Columns of the step before `columns`: all of them. */
  readonly keeps?: 'all';
  readonly columns: Columns;
  /** Undefined for one row without columns. */
  readonly from: EventScan | ProfileScan | DeviceScan | Step | MatchedRows | JoinedRows | undefined;
  /** Condition on the rows of a step; a scan has its own filter. */
  readonly where?: Expression;
  /** GROUP BY these columns of the same select; undefined without aggregation. */
  readonly groupBy?: readonly string[];
  /** HAVING condition. */
  readonly having?: Expression;
  readonly orderBy?: readonly OrderBy[];
  readonly fill?: Fill;
  readonly limit?: number;
  readonly offset?: number;
}

/** Events of one project. */
export interface EventScan {
  readonly kind: 'events';
  readonly projectId: ProjectId;
  readonly time: ScanTime;
  readonly joins: readonly Join[];
  readonly filter: readonly Expression[];
}

export interface ScanTime {
  /**
   * `hours` reads whole hours from the hourly projection, which has only project, event type and
   * hour.
   */
  readonly kind: 'exact' | 'hours';
  /** Half-open ranges. */
  readonly ranges: readonly TimeRange[];
}

/** Joins the step's row with the key of the scanned row; keys are unique in the step. */
export interface Join {
  readonly step: Step;
  readonly left: Expression;
  /** A column of the step. */
  readonly right: string;
  /**
   * Rows without a matching one: `kept` with missing values (LEFT JOIN) or `left out` (INNER JOIN).
   */
  readonly others: 'kept' | 'left out';
}

/**
 * The rows of a step, each with the one of another step that has its key, if there is one: a column
 * that is missing has its default.
 */
export interface MatchedRows {
  readonly kind: 'matched';
  /** Held in memory, while the others are read. */
  readonly rows: Step;
  /** Unique by their key. */
  readonly others: Step;
  /** The columns of the key. */
  readonly on: { readonly row: string; readonly other: string };
}

/** The rows of a step with a join, whose step is held in memory. */
export interface JoinedRows {
  readonly kind: 'joined';
  readonly rows: Step;
  readonly join: Join;
}

/** Profiles of one project, without deleted ones. */
export interface ProfileScan {
  readonly kind: 'profiles';
  readonly projectId: ProjectId;
  readonly joins?: readonly Join[];
  readonly filter: readonly Expression[];
}

/** Mapped devices of one project, each with its current user. */
export interface DeviceScan {
  readonly kind: 'device_map';
  readonly projectId: ProjectId;
  readonly filter: readonly Expression[];
}

export interface OrderBy {
  readonly expression: Expression;
  readonly direction: 'asc' | 'desc';
}

export type FillStep = 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'QUARTER' | 'YEAR';

/** WITH FILL: adds missing rows of the first sort column. */
export interface Fill {
  readonly from: Expression;
  readonly to: Expression;
  /** Undefined for numbers, which are one apart. */
  readonly step?: FillStep;
  /** Default: 1. */
  readonly steps?: number;
}

// ---- Constructors ----

export const select = (parts: Omit<Select, 'kind'>): Select => ({ kind: 'select', ...parts });
export const step = (name: string, rows: Select | Union): Step => ({ kind: 'step', name, rows });

/** The columns of a step and further ones. */
export const extend = (from: Step, columns: Columns): Select => select({ keeps: 'all', columns, from });

// ---- Answers ----

/**
 * Type of a result column. Empty `text` is missing, null `nullable_text` is missing. A `rate` is a
 * fraction of 1, a `path` a list of texts.
 */
export type ColumnType =
  | 'text'
  | 'nullable_text'
  | 'number'
  | 'rate'
  | 'time'
  | 'date'
  | 'properties'
  | 'optional_properties'
  | 'path'
  | 'texts'
  | 'top_keys'
  | 'type_counts'
  | 'property_name'
  | 'typed_text'
  | 'percent';

export interface OutputColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Whether its numbers are computed in doubles, and therefore rounded (src/query/cells.ts). */
  readonly isComputed?: boolean;
}

/** Computation over all engine rows after the query, before paging. */
export type PostProcess = {
  readonly order: readonly ColumnOrder[];
  /** The order of the answer, when it differs from the one by which rows are kept. */
  readonly shownOrder?: readonly ColumnOrder[];
} & (
  | { readonly kind: 'fields'; readonly definitions: Definitions }
  | {
      readonly kind: 'choice';
      readonly choiceKey: string;
      readonly conversionEvent: string;
      readonly unit: string;
      /** Only in results of a value: the value as the query writes it. */
      readonly value?: string;
      /** Days before the exposure. */
      readonly cuped?: number;
      /** Events of `guard`, as the query writes them. */
      readonly guards?: readonly string[];
      /** The relative lift, and the end of the traffic so far. */
      readonly plan?: { readonly relativeLift: number; readonly untilMs: number };
      readonly nowMs: number;
    }
);

export interface Plan {
  readonly mode: string;
  readonly select: Select;
  /** One per column of the select, in the same order. */
  readonly columns: readonly OutputColumn[];
  /** The column repeated as `value`, and the metric name. */
  readonly metric: { readonly name: string; readonly column: string } | undefined;
  /** Set when the engine's rows are not the rows of the answer. */
  readonly presentation?: PostProcess;
  readonly total: Total;
  /** Rows of the result that belong to the answer; one more may be requested to learn the total. */
  readonly rowsKept: number;
  readonly range: TimeRange;
  /** The range of `compare`. */
  readonly earlier?: TimeRange;
  readonly timezone: string;
  readonly warnings: readonly string[];
  /**
   * Columns that name a row in `metadata.incomplete`. The select has one column more than the
   * answer: 1 for rows whose time is not over.
   */
  readonly incompleteBy?: readonly string[];
  /** Buckets of the range that it, or the present, covers only in part. */
  readonly partial?: PartialBuckets;
  readonly withoutUnit?: WithoutUnit;
  /** `metadata` of the response, with its JSON names. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The events without the unit of the query, which are left out. */
export interface WithoutUnit {
  /** As the query has it. */
  readonly unit: string;
  readonly count: Select;
}

/**
 * Source of the total: ClickHouse's rows_before_limit, or, where that would read everything, a
 * separate count that runs only when a page is full. `rowsMax` caps both.
 */
export type Total = { readonly rowsMax: number | undefined } & (
  | { readonly kind: 'engine' }
  | { readonly kind: 'count'; readonly select: Select }
);
