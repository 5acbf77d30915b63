// Maps ClickHouse error codes (src/Common/ErrorCodes.cpp) to the errors of POST /query.
import { ClickHouseError } from '@clickhouse/client';
import { PublicError } from '../platform/errors.js';
import { isUnreachable } from '../platform/transient-errors.js';

/** The client has disconnected: there is no response. */
export class AnswerNotWanted extends Error {}

const NARROWER = 'ask for a shorter time range, one event type instead of *, or fewer groups';

/** Rows that the engine answers: the most that a page has, and one that tells of the next page. */
export const RESULT_ROWS_MAX = 10_001;

const describeBytes = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MiB`;

const MEMORY_LIMIT_EXCEEDED = '241';

/**
 * Whether this query exceeded its own memory limit, as opposed to that of its user or of the
 * server.
 */
export const isOverQueryMemory = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code === MEMORY_LIMIT_EXCEEDED && /query memory limit/i.test(error.message);

interface Circumstances {
  readonly isLate: boolean;
  readonly limits: { readonly timeoutMs: number; readonly memoryBytes: number };
}

const timedOut = (cause: unknown, { limits }: Circumstances): PublicError =>
  new PublicError('timed_out', `the query took longer than ${limits.timeoutMs / 1000} s and was stopped; ${NARROWER}`, {
    cause,
  });

/** Returns other errors unchanged: bugs, or an unavailable engine. */
export function toPublicError(cause: unknown, circumstances: Circumstances): unknown {
  if (circumstances.isLate) return timedOut(cause, circumstances);
  if (!(cause instanceof ClickHouseError)) return isUnreachable(cause) ? unavailable(cause) : cause;
  switch (cause.code) {
    case '159': // TIMEOUT_EXCEEDED
    case '160': // TOO_SLOW
      return timedOut(cause, circumstances);
    case '394': // QUERY_WAS_CANCELLED, by an operator or a shutdown
    case '202': // TOO_MANY_SIMULTANEOUS_QUERIES
    case '439': // CANNOT_SCHEDULE_TASK: the server has no thread left
    case '81': // UNKNOWN_DATABASE: the server has lost its data, or is not migrated yet
    case '289': // REPLICA_IS_NOT_IN_QUORUM: it is behind others, until the next one is chosen
    case '225': // NO_ZOOKEEPER
    case '999': // KEEPER_EXCEPTION
    case '516': // AUTHENTICATION_FAILED: the password was changed
      return unavailable(cause);
    case '201': // QUOTA_EXCEEDED
      return new PublicError('unavailable', 'the quota of the ClickHouse account is used up; try again later', {
        cause,
      });
    case '243': // NOT_ENOUGH_SPACE
      return new PublicError(
        'unavailable',
        `the query needs more of ClickHouse's disk than is free; try again later, or ${NARROWER}`,
        { cause },
      );
    case MEMORY_LIMIT_EXCEEDED:
      if (!isOverQueryMemory(cause)) return unavailable(cause);
      return new PublicError(
        'bad_request',
        `the query needs more memory than the ${describeBytes(circumstances.limits.memoryBytes)} that one query may use; ${NARROWER}`,
        { cause },
      );
    case '158': // TOO_MANY_ROWS
    case '307': // TOO_MANY_BYTES
    case '396': // TOO_MANY_ROWS_OR_BYTES
      // A page has fewer rows: these are those that an answer is computed from.
      if (/for result exceeded, max rows/i.test(cause.message)) return tooManyRows(cause);
      return new PublicError(
        'bad_request',
        `the query reads or answers more than one query may; list fewer rows or only the fields you need, or ${NARROWER}`,
        { cause },
      );
    case '167': // TOO_DEEP_AST
    case '168': // TOO_BIG_AST
      return new PublicError(
        'bad_request',
        'the query names more fields or conditions than one query may; ask in several queries, or write in (…) for many values of one field',
        { cause },
      );
    case '427': // CANNOT_COMPILE_REGEXP
      return new PublicError(
        'bad_request',
        'a regular expression after ~ or !~ is not valid; expressions are RE2, without look-around and back-references',
        { cause },
      );
    default:
      return cause;
  }
}

const tooManyRows = (cause: unknown): PublicError =>
  new PublicError(
    'bad_request',
    `the answer is computed from more than ${RESULT_ROWS_MAX - 1} rows, the limit of one query; an experiment has two for each variant, so ids must not be sent as variants; else ${NARROWER}`,
    { cause },
  );

export const unavailable = (cause: unknown): PublicError =>
  new PublicError('unavailable', 'queries cannot be answered right now; try again', { cause });
