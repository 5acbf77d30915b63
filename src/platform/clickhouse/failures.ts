// Which failures of ClickHouse pass, and which are the rows' own fault.
import { ClickHouseError } from '@clickhouse/client';

/** Error codes of the engine (src/Common/ErrorCodes.cpp) that name the data of an insert, not the state of a server. */
const BAD_DATA_CODES: ReadonlySet<string> = new Set([
  '6', // CANNOT_PARSE_TEXT
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '469', // VIOLATED_CONSTRAINT
]);

/** Everything else may pass: a server that is away, out of memory or busy, a table that is not there yet. */
export const isBadData = (error: unknown): boolean =>
  error instanceof ClickHouseError && BAD_DATA_CODES.has(error.code);

const QUERY_ID_IS_RUNNING = '216';

export const isQueryIdRunning = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code === QUERY_ID_IS_RUNNING;
