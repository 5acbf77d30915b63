// What the engine is asked, decided to the last detail and not yet spelled. A plan is a tree of selects over scans; a scan
// cannot be built without the project whose rows it reads, and values from a query are only ever parameters.
import type { ProjectId } from '../../platform/ids.js';
import type { ColumnOrder, SourceMode, TimeRange } from '../analyze/resolved.js';
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

/** The columns of events that no field names: hashes of ids and the typed buckets of properties. */
export type InternalColumn = 'uid' | 'did' | PropertyColumn;
export type PropertyColumn = `${'ep' | 'up'}_${'str' | 'num' | 'bool' | 'null'}` | ProfileMap;
export type ProfileMap = `props_${'str' | 'num' | 'bool'}`;

/** The columns of profiles, as the table has them. */
export type ProfileSource = 'email' | 'email_domain' | 'first_seen' | 'last_seen';

export type AnyColumn = EventColumn | InternalColumn | SessionColumn | SessionSource | ProfileColumn | ProfileSource;

/** Constants of our own making. Nothing that was written in a query may become one. */
export type Constant = '' | 0 | 1 | 'true' | 'false' | 'NULL';

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
  | 'toStartOfHour'
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
  /** The user that the event's device is mapped to; needs a scan that stitches. */
  | { readonly kind: 'mapped'; readonly column: 'uid' | 'user_id' }
  /** A column of the select below. */
  | { readonly kind: 'alias'; readonly alias: string }
  | { readonly kind: 'parameter'; readonly type: ParameterType; readonly value: ParameterValue }
  | { readonly kind: 'constant'; readonly value: Constant }
  | { readonly kind: 'infix'; readonly operator: InfixOperator; readonly operands: readonly Expression[] }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  /** Hashes of these ids, for IN. */
  | { readonly kind: 'hashes'; readonly ids: readonly string[] }
  /** Hashes of the project's devices that are mapped to one of these users, or are one of these devices. */
  | {
      readonly kind: 'mapped_devices';
      readonly projectId: ProjectId;
      readonly column: 'uid' | 'did' | 'device_id';
      readonly values: Expression;
    }
  /** Hashes of whoever is called so: of the name itself, and of the project's users with this e-mail address. */
  | { readonly kind: 'persons_called'; readonly projectId: ProjectId; readonly id: Expression }
  /** The rows of a select, for IN. */
  | { readonly kind: 'subselect'; readonly select: Select }
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Expression }
  /** One element of a tuple, from 1 on. */
  | { readonly kind: 'tuple_element'; readonly of: Expression; readonly position: number }
  | { readonly kind: 'map_value'; readonly map: PropertyColumn; readonly key: Expression }
  | ProfileProperty
  | {
      readonly kind: 'call';
      readonly name: FunctionName;
      /** The first pair of parentheses of a parametric aggregate. */
      readonly settings?: readonly number[];
      readonly arguments: readonly Expression[];
    };

/** What is read of a property of a profile: a column of the select over profiles. */
export interface ProfileProperty {
  readonly kind: 'profile_property';
  readonly name: string;
  readonly value: Expression;
}

/** Which of the device's mapping a scan brings along: nothing, the hash of its user, or the user's id as well. */
export type Stitching = 'none' | 'hash' | 'text';

/**
 * Events of one project in a range. `hours` takes the range's whole hours from the hourly counts, which know the project,
 * the event type and the hour, and nothing else.
 */
export interface EventScan {
  readonly kind: 'events';
  readonly projectId: ProjectId;
  readonly stitching: Stitching;
  readonly joins?: readonly Join[];
  readonly time: ScanTime;
  readonly filter: readonly Expression[];
}

/** One row of the select for each event, the one whose key it has: no two rows have the same key. */
export interface Join {
  readonly name: string;
  readonly select: Select;
  readonly left: Expression;
  /** A column of the select. */
  readonly right: string;
  /** What becomes of events whose key no row has: they are kept, with values that are missing, or left out. */
  readonly others: 'kept' | 'left out';
}

/** Profiles of one project that are not deleted. */
export interface ProfileScan {
  readonly kind: 'profiles';
  readonly projectId: ProjectId;
  readonly filter: readonly Expression[];
}

export interface ScanTime {
  readonly kind: 'exact' | 'hours';
  /** From the first instant on, and before the second. */
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

/** Adds the rows of the steps that have none; the first column ordered by is the one that steps. */
export interface Fill {
  readonly from: Expression;
  readonly to: Expression;
  readonly step: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'QUARTER';
}

export interface Select {
  readonly kind: 'select';
  readonly columns: readonly SelectColumn[];
  readonly from: EventScan | ProfileScan | Select | Union;
  /** Grouped by these columns of the same select; undefined where nothing is aggregated. */
  readonly groupBy?: readonly string[];
  /** Which groups are kept. */
  readonly having?: Expression;
  readonly orderBy?: readonly OrderBy[];
  readonly fill?: Fill;
  readonly limit?: number;
  readonly offset?: number;
}

/**
 * How the values of a result column read. `text` is missing where it is empty, `nullable_text` where it is null. A `rate` is a
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

export type Mode =
  | SourceMode
  | 'fields'
  | 'inspect'
  | 'aggregate'
  | 'list'
  | 'funnel'
  | 'retention'
  | 'paths'
  | 'lifecycle'
  | 'stickiness'
  | 'formula';

/** Rows that are put together after the engine has answered, all of them before one page is taken. */
export type Presentation = {
  readonly order: readonly ColumnOrder[];
  /** Of the rows that are kept by that order, where they are shown in another one. */
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
  readonly mode: Mode;
  readonly select: Select;
  /** One for each column of the select, in the same order. */
  readonly columns: readonly OutputColumn[];
  /** Which column is repeated as `value`, and what it measures. */
  readonly metric: { readonly name: string; readonly column: string } | undefined;
  /** How the engine's rows become those of the answer, where they are not already. */
  readonly presentation?: Presentation;
  readonly total: Total;
  /** Rows of the result that belong to the answer: the engine may have been asked for one more to learn the total. */
  readonly rowsKept: number;
  readonly range: TimeRange;
  readonly timezone: string;
  readonly warnings: readonly string[];
  /** What the answer says about itself beside its rows, by the names of the wire. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * How the total is learned: from the engine's count of the rows before its limit, or, where that would make it read
 * everything, by a count of its own that is only run when a page is full. Either way `rowsMax` caps it.
 */
export type Total = { readonly rowsMax: number | undefined } & (
  | { readonly kind: 'engine' }
  | { readonly kind: 'count'; readonly select: Select }
);
