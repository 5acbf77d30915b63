// Classifies transient store errors: the store is unreachable or temporarily rejects requests, so
// the caller may retry. ioredis, pg and the client of ClickHouse give some of their errors neither
// class nor code; those are matched by message, and tests provoke them.

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);

const CLIENT_ERRORS: ReadonlySet<string> = new Set(['MaxRetriesPerRequestError', 'KnexTimeoutError']);
/** Ends of messages that do not name their store. */
const CLIENT_WORDS = {
  Redis: [
    'Connection is closed.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Command timed out',
  ],
  // pg appends them to the statement. The last is of a server that takes the connection and never
  // greets.
  PostgreSQL: [
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout expired',
  ],
  ClickHouse: ['Timeout error.'],
} as const;

/** Error codes of Redis: out of memory or disk, loading, read-only replica, too few replicas. */
const REDIS_CODE = /^(OOM|MISCONF|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|EXECABORT) /;

/**
 * SQLSTATE classes: connection exception, insufficient resources, operator intervention, system
 * error, read-only standby.
 */
const SQL_STATE = /^(08|53|57P|25006)/;

export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NETWORK_CODES.has(String(error.code));

export function isTransientError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isUnreachable(error) || CLIENT_ERRORS.has(error.name)) return true;
  if (error.name === 'ReplyError') return REDIS_CODE.test(error.message);
  if ('code' in error && typeof error.code === 'string' && error.code.length === 5) return SQL_STATE.test(error.code);
  return storeOfWords(error.message) !== undefined;
}

/** The store of a message that does not name it. */
export const storeOfWords = (message: string): string | undefined =>
  Object.entries(CLIENT_WORDS).find(([, ends]) => ends.some((words) => message.endsWith(words)))?.[0];
