// Classifies failures of ClickHouse as transient or permanent (caused by the rows).
import { ClickHouseError } from '@clickhouse/client';

/**
 * Error codes of the engine (src/Common/ErrorCodes.cpp) that name the data of an insert, not the
 * state of a server.
 */
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

/**
 * All other failures are transient: unavailable, out of memory, busy, or a table that is not
 * created yet.
 */
export const isBadData = (error: unknown): boolean =>
  error instanceof ClickHouseError && BAD_DATA_CODES.has(error.code);

const QUERY_ID_IS_RUNNING = '216';

export const isQueryIdRunning = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code === QUERY_ID_IS_RUNNING;

const CLUSTER_DOESNT_EXIST = '701';

export const isUnknownCluster = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code === CLUSTER_DOESNT_EXIST;

const NO_SUCH_DATA_PART = '232';

/** A merge or mutation has replaced the part meanwhile. */
export const isPartGone = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code === NO_SUCH_DATA_PART;

const NO_INSERTS_CODES: ReadonlySet<string> = new Set([
  '225', // NO_ZOOKEEPER
  '242', // TABLE_IS_READ_ONLY
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '999', // KEEPER_EXCEPTION
]);

/** The replica is behind others, or has lost Keeper; another may take the insert. */
export const takesNoInserts = (error: unknown): boolean =>
  error instanceof ClickHouseError && NO_INSERTS_CODES.has(error.code);
