// Plan types: a tree of selects over scans, complete except for SQL syntax. A scan requires a ProjectId, and values from a query
// are always parameters.
import type { ProjectId } from '../../platform/ids.js';
import type { ColumnOrder, TimeRange } from '../analyze/resolved.js';
import type { EventColumn } from '../fields.js';
import type { ProfileColumn } from '../profile-fields.js';
import type { SessionColumn, SessionSource } from '../session-fields.js';

export type ParameterType =
  | 'String'
  | 'Float64'
  | 'UInt64'
  | 'UUID'
  | "DateTime64(3, 'UTC')"
  | 'Date'
  | 'Array(String)'
  | 'Array(Float64)'
  | "Array(DateTime64(3, 'UTC'))"
  | 'Int64';

export type ParameterValue = string | number | readonly string[] | readonly number[];

/** Event columns without a field name: id hashes and property maps. */
export type InternalColumn = 'user_hash' | 'device_hash' | PropertyColumn;
export type PropertyColumn = `${'ep' | 'up'}_${'str' | 'num' | 'bool' | 'null'}` | ProfileMap;
export type ProfileMap = `props_${'str' | 'num' | 'bool'}`;

/** Columns of the profiles table. */
export type ProfileSource = 'email' | 'email_domain' | 'first_seen' | 'last_seen';

export type AnyColumn = EventColumn | InternalColumn | SessionColumn | SessionSource | ProfileColumn | ProfileSource;

/** Constants of the compiler. Text of a query must never become one. */
export type Constant = '' | 0 | 1 | 8 | 24 | 'true' | 'false' | 'NULL';

export type InfixOperator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'AND'
  | 'OR'
  | 'IN'
  | 'NOT IN'
  | '+'
  | '-'
  | '*'
  | '/';

export type FunctionName =
  | 'addDays'
  | 'addMonths'
  | 'addWeeks'
  | 'any'
  | 'argMax'
  | 'argMaxIf'
  | 'argMinIf'
  | 'argMinOrNullIf'
  | 'array'
  | 'arrayConcat'
  | 'arrayDifference'
  | 'arrayDistinct'
  | 'arrayElement'
  | 'arrayEnumerate'
  | 'arrayEnumerateUniq'
  | 'arrayExists'
  | 'arrayFilter'
  | 'arrayFirst'
  | 'arrayFirstIndex'
  | 'arrayJoin'
  | 'arrayMap'
  | 'arrayReverse'
  | 'arrayReverseFill'
  | 'arrayReverseSort'
  | 'arrayShiftLeft'
  | 'arraySlice'
  | 'arraySort'
  | 'avg'
  | 'avgIf'
  | 'bitAnd'
  | 'bitShiftLeft'
  | 'bitShiftRight'
  | 'concat'
  | 'count'
  | 'countIf'
  | 'fromUnixTimestamp64Milli'
  | 'groupArray'
  | 'groupArrayIf'
  | 'groupUniqArray'
  | 'groupUniqArrayArray'
  | 'groupUniqArrayIf'
  | 'has'
  | 'if'
  | 'ifNull'
  | 'indexOf'
  | 'intDiv'
  | 'isFinite'
  | 'isNaN'
  | 'isNotNull'
  | 'least'
  | 'length'
  | 'mapContains'
  | 'mapFilter'
  | 'mapKeys'
  | 'mapValues'
  | 'match'
  | 'max'
  | 'maxIf'
  | 'min'
  | 'minIf'
  | 'modulo'
  | 'multiIf'
  | 'not'
  | 'notEmpty'
  | 'nullIf'
  | 'position'
  | 'startsWith'
  | 'endsWith'
  | 'quantileExactInclusive'
  | 'quantileExactInclusiveForEach'
  | 'range'
  | 'reinterpretAsFixedString'
  | 'replaceOne'
  | 'reverse'
  | 'sipHash64'
  | 'sum'
  | 'sumForEach'
  | 'sumIf'
  | 'sumMap'
  | 'throwIf'
  | 'toDate'
  | 'toFloat64'
  | 'toFloat64OrNull'
  | 'toMonday'
  | 'toNullable'
  | 'toRelativeDayNum'
  | 'toRelativeMonthNum'
  | 'toRelativeWeekNum'
  | 'toDayOfWeek'
  | 'toHour'
  | 'toStartOfHour'
  | 'toStartOfMinute'
  | 'toStartOfYear'
  | 'toStartOfMonth'
  | 'toStartOfQuarter'
  | 'toString'
  | 'toUInt64'
  | 'topKWeighted'
  | 'toUnixTimestamp64Milli'
  | 'tuple'
  | 'uniqExact'
  | 'uniqExactArray'
  | 'uniqExactIf'
  | 'xxh3';

export type Expression =
  | { readonly kind: 'column'; readonly column: AnyColumn }
  /** The user mapped to the event's device; requires a stitching scan. */
  | { readonly kind: 'mapped'; readonly column: 'user_hash' | 'user_id' }
  /** A column of the inner select. */
  | { readonly kind: 'alias'; readonly alias: string }
  | { readonly kind: 'parameter'; readonly type: ParameterType; readonly value: ParameterValue }
  | { readonly kind: 'constant'; readonly value: Constant }
  | { readonly kind: 'infix'; readonly operator: InfixOperator; readonly operands: readonly Expression[] }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  /** Hashes of these ids, for IN. */
  | { readonly kind: 'hashes'; readonly ids: readonly string[] }
  /** Hashes of the project's mapped devices, by user or by device, for IN. */
  | {
      readonly kind: 'mapped_devices';
      readonly projectId: ProjectId;
      readonly column: 'user_hash' | 'device_hash' | 'device_id';
      readonly values: Expression;
    }
  /** Hashes of the id itself and of the project's users with this e-mail address. */
  | { readonly kind: 'identities_named'; readonly projectId: ProjectId; readonly id: Expression }
  /** Rows of a select, for IN. */
  | { readonly kind: 'subselect'; readonly select: Select }
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Expression }
  /** One element of a tuple, from 1 on. */
  | { readonly kind: 'tuple_element'; readonly of: Expression; readonly position: number }
  | { readonly kind: 'map_value'; readonly map: PropertyColumn; readonly key: Expression }
  | ProfileProperty
  | {
      readonly kind: 'call';
      readonly name: FunctionName;
      /** Parameters of a parametric aggregate function. */
      readonly settings?: readonly number[];
      readonly arguments: readonly Expression[];
    };

/** A profile property that the select over profiles extracts. */
export interface ProfileProperty {
  readonly kind: 'profile_property';
  readonly name: string;
  readonly value: Expression;
}

/** What a scan joins from the device mapping: nothing, the user's hash, or also the user's id. */
export type Stitching = 'none' | 'hash' | 'text';

/**
 * Events of one project in a range. `hours` reads whole hours from the hourly projection, which has only project, event type
 * and hour.
 */
export interface EventScan {
  readonly kind: 'events';
  readonly projectId: ProjectId;
  readonly stitching: Stitching;
  readonly joins?: readonly Join[];
  readonly time: ScanTime;
  readonly filter: readonly Expression[];
}

/** Joins the select's row with the event's key; keys are unique in the select. */
export interface Join {
  readonly name: string;
  readonly select: Select;
  readonly left: Expression;
  /** A column of the select. */
  readonly right: string;
  /** Events without a matching row: `kept` with missing values (LEFT JOIN) or `left out` (INNER JOIN). */
  readonly others: 'kept' | 'left out';
}

/** Profiles of one project, without deleted ones. */
export interface ProfileScan {
  readonly kind: 'profiles';
  readonly projectId: ProjectId;
  readonly filter: readonly Expression[];
}

export interface ScanTime {
  readonly kind: 'exact' | 'hours';
  /** Half-open ranges. */
  readonly ranges: readonly { readonly from: Expression; readonly to: Expression }[];
}

export interface Union {
  readonly kind: 'union';
  readonly selects: readonly Select[];
}

export interface SelectColumn {
  readonly alias: string;
  readonly expression: Expression;
}

export interface OrderBy {
  readonly expression: Expression;
  readonly direction: 'asc' | 'desc';
}

export type FillStep = 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'QUARTER' | 'YEAR';

/** WITH FILL: adds missing rows of the first sort column. */
export interface Fill {
  readonly from: Expression;
  readonly to: Expression;
  /** Undefined for numbers, which are one apart. */
  readonly step?: FillStep;
}

export interface Select {
  readonly kind: 'select';
  readonly columns: readonly SelectColumn[];
  readonly from: EventScan | ProfileScan | Select | Union;
  /** GROUP BY these columns of the same select; undefined without aggregation. */
  readonly groupBy?: readonly string[];
  /** HAVING condition. */
  readonly having?: Expression;
  readonly orderBy?: readonly OrderBy[];
  readonly fill?: Fill;
  readonly limit?: number;
  readonly offset?: number;
}

/**
 * Type of a result column. Empty `text` is missing, null `nullable_text` is missing. A `rate` is a fraction of 1, a `path` a
 * list of texts.
 */
export type ColumnType =
  | 'text'
  | 'nullable_text'
  | 'number'
  | 'rate'
  | 'time'
  | 'date'
  | 'properties'
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
}

/** Computation over all engine rows after the query, before paging. */
export type PostProcess = {
  readonly order: readonly ColumnOrder[];
  /** The order of the answer, when it differs from the one by which rows are kept. */
  readonly shownOrder?: readonly ColumnOrder[];
} & (
  | { readonly kind: 'fields' }
  | {
      readonly kind: 'choice';
      readonly choiceKey: string;
      readonly conversionEvent: string;
      readonly unit: string;
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
  readonly timezone: string;
  readonly warnings: readonly string[];
  /** `metadata` of the response, with its JSON names. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Source of the total: ClickHouse's rows_before_limit, or, where that would read everything, a separate count that runs only
 * when a page is full. `rowsMax` caps both.
 */
export type Total = { readonly rowsMax: number | undefined } & (
  | { readonly kind: 'engine' }
  | { readonly kind: 'count'; readonly select: Select }
);
