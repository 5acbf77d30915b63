// Classifies transient store errors: the store is unreachable or temporarily rejects requests, so
// the caller may retry. ioredis and pg give some of their errors neither class nor code; those are
// matched by message, and tests provoke them.

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
const CLIENT_WORDS = [
  // ioredis
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
  'Command timed out',
  // pg, which appends these to the statement
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  // pg, of a server that takes the connection and never greets
  'timeout expired',
];

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
  return CLIENT_WORDS.some((words) => error.message.endsWith(words));
}
