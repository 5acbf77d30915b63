// Classifies failures of ClickHouse as transient or permanent (caused by the rows).
import { ClickHouseError } from '@clickhouse/client';
import { messageOf } from '../errors.js';

/** Whether the engine answered with one of these error codes (src/Common/ErrorCodes.cpp). */
const hasCode = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof ClickHouseError && codes.includes(error.code);

/** Error codes that name the data of an insert, not the state of a server. */
const BAD_DATA = [
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
];

/**
 * Whether the rows are at fault, so that a repetition fails again. All other failures are
 * transient: unavailable, out of memory, busy, or a table that is not created yet.
 */
export const isBadData = (error: unknown): boolean => hasCode(error, BAD_DATA) && !STORED.test(messageOf(error));

/** Of rows that the view of the insert reads, not of those that are sent. */
const STORED = /while reading from part /;

/** Error codes that name the state of a server or an account, not the statement. */
const OUTAGES = [
  '159', // TIMEOUT_EXCEEDED
  '201', // QUOTA_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY
  '243', // NOT_ENOUGH_SPACE
  '252', // TOO_MANY_PARTS
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '394', // QUERY_WAS_CANCELLED
  '439', // CANNOT_SCHEDULE_TASK
  '497', // ACCESS_DENIED
  '516', // AUTHENTICATION_FAILED
  '999', // KEEPER_EXCEPTION
];

/** What answered in place of ClickHouse, or of its accounts. */
class NamedAnswer extends Error {}

export const isOutage = (error: unknown): boolean => error instanceof NamedAnswer || hasCode(error, OUTAGES);

const QUERY_ID_IS_RUNNING = '216';

export const isQueryIdRunning = (error: unknown): boolean => hasCode(error, [QUERY_ID_IS_RUNNING]);

const CLUSTER_DOESNT_EXIST = '701';

export const isUnknownCluster = (error: unknown): boolean => hasCode(error, [CLUSTER_DOESNT_EXIST]);

const NO_SUCH_DATA_PART = '232';

/** A merge or mutation has replaced the part meanwhile. */
export const isPartGone = (error: unknown): boolean => hasCode(error, [NO_SUCH_DATA_PART]);

const REPLICA_IS_NOT_IN_QUORUM = '289';

/** Of a question with select_sequential_consistency. */
export const isReplicaBehind = (error: unknown): boolean => hasCode(error, [REPLICA_IS_NOT_IN_QUORUM]);

const NO_INSERTS = [
  '225', // NO_ZOOKEEPER
  '242', // TABLE_IS_READ_ONLY
  REPLICA_IS_NOT_IN_QUORUM,
  '999', // KEEPER_EXCEPTION
];

/** The replica is behind others, or has lost Keeper; another may take the insert. */
export const takesNoInserts = (error: unknown): boolean => hasCode(error, NO_INSERTS);

const REPLICA_ALREADY_EXISTS = '253';

/** Keeper has a replica of this name, whose tables this server does not have. */
export const isReplicaKnown = (error: unknown): boolean => hasCode(error, [REPLICA_ALREADY_EXISTS]);

const PAGE_TITLE = /<title>([^<]{1,100})<\/title>/i;
/** Of the ClickHouse of `npm start`, whose paths exist for its accounts only. */
const NO_SUCH_ACCOUNT = /^There is no handle \/(?:\?|$)/m;

/** An error of one line for an answer that is none of ClickHouse: a proxy by its title. */
export function nameAnswer(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (NO_SUCH_ACCOUNT.test(error.message))
    return new NamedAnswer(
      'the user or password in the address of ClickHouse is wrong (CLICKHOUSE_URL, or that of the shard)',
    );
  if ('code' in error && error.code === 'EPROTO') {
    return new NamedAnswer(
      'ClickHouse speaks no TLS, which https:// in its address asks for (CLICKHOUSE_URL, or that of the shard)',
    );
  }
  const title = error.message.startsWith('<') ? PAGE_TITLE.exec(error.message)?.[1] : undefined;
  return title === undefined ? error : new NamedAnswer(`a proxy in front of ClickHouse answered "${title}"`);
}

/**
 * What people are told of a failure: one line. Behind a refused password, ClickHouse says in nine
 * more how to reset it.
 */
export const inOneLine = (error: unknown): string => (messageOf(nameAnswer(error)).split('\n', 1)[0] ?? '').trim();
