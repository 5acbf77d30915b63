// Which failures say that a store is away, or takes nothing now: they pass, and whoever asked should ask again. Neither ioredis
// nor pg gives its own failures a class or a code, so those few are known by their words; tests meet them.

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
  // pg, after the statement
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
];

/** Redis begins what it refuses with a code: out of memory or disk, loading, a replica, without enough replicas. */
const REDIS_CODE = /^(OOM|MISCONF|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|EXECABORT) /;

/** SQLSTATE: connection exceptions, insufficient resources, a server that stops or starts, a standby. */
const SQL_STATE = /^(08|53|57P|25006)/;

export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NETWORK_CODES.has(String(error.code));

export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isUnreachable(error) || CLIENT_ERRORS.has(error.name)) return true;
  if (error.name === 'ReplyError') return REDIS_CODE.test(error.message);
  if ('code' in error && typeof error.code === 'string' && error.code.length === 5) return SQL_STATE.test(error.code);
  return CLIENT_WORDS.some((words) => error.message.endsWith(words));
}
