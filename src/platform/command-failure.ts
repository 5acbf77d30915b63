// Says in one sentence why a command failed, and names the store that does not answer, for people
// at a terminal. Errors of drivers have an address at best, and some have no message.
import { inOneLine, isOutage, nameAnswer } from './clickhouse/failures.js';
import { HostsNotMigrated } from './clickhouse/migrate.js';
import type { Config } from './config.js';
import { ConfigProblem } from './config-problem.js';
import { messageOf } from './errors.js';
import { EXIT_FAILED, EXIT_USAGE } from './exit-status.js';
import { NewerData } from './newer-data.js';
import { answerOfPostgres, withoutStatement } from './postgres/failures.js';
import { storeOfWords } from './transient-errors.js';
import { UsageError } from './usage-error.js';

type Urls = Pick<Config, 'DATABASE_URL' | 'REDIS_URL' | 'CLICKHOUSE_URL'>;

const STORES = [
  { name: 'PostgreSQL', setting: 'DATABASE_URL', port: 5432 },
  { name: 'Redis', setting: 'REDIS_URL', port: 6379 },
  { name: 'ClickHouse', setting: 'CLICKHOUSE_URL', port: 8123 },
] as const;

const CLICKHOUSE_REFUSALS = /AUTHENTICATION|ACCESS_DENIED|UNKNOWN_DATABASE|READONLY|QUERY_IS_PROHIBITED/;
/** Of pg. */
const NO_TLS = 'The server does not support SSL connections';
const TLS_ADVICE = 'set DATABASE_TLS=url, and remove sslmode from DATABASE_URL, or turn TLS on there';
const CERTIFICATE = /SELF_SIGNED|UNABLE_TO|CERT_/;
const CERTIFICATE_ADVICE = 'DATABASE_TLS=self-signed takes it without checking who answers';
/** Codes of Node for wrong arguments and the like; those of TLS are no bugs. */
const BUG = /^ERR_(?!TLS_|SSL_)/;

/** What drivers and Node attach to their errors. */
interface Details {
  readonly code?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
  readonly type?: unknown;
}

/**
 * Undefined for an error that no outage, address or password explains: a bug, whose trace helps.
 */
export function describeFailure(error: unknown, urls: Urls | undefined): string | undefined {
  for (const cause of causesOf(error)) {
    if ([ConfigProblem, HostsNotMigrated, NewerData].some((kind) => cause instanceof kind)) return cause.message;
    const store = urls && STORES.find((each) => isOf(cause, urls[each.setting], each.port));
    if (store && urls) {
      const { hostname, port } = new URL(urls[store.setting]);
      const at = `${hostname}:${port || store.port}`;
      return `${store.name} (${store.setting}) cannot be reached at ${at}: ${reasonOf(cause)}`;
    }
    const refusal = answerOfPostgres(cause);
    if (refusal !== undefined) return `PostgreSQL (DATABASE_URL) refuses: ${refusal}`;
    if (cause.message.startsWith('Knex: Timeout')) return 'PostgreSQL (DATABASE_URL) does not answer';
    const silent = STORES.find(({ name }) => name === storeOfWords(cause.message));
    if (silent) return `${silent.name} (${silent.setting}) does not answer: ${withoutStatement(cause.message)}`;
    if (cause.message === NO_TLS) return `PostgreSQL (DATABASE_URL) speaks no TLS: ${TLS_ADVICE}`;
    // ClickHouse's own errors have a type.
    const { type } = cause as Details;
    if (typeof type === 'string' && CLICKHOUSE_REFUSALS.test(type)) {
      return `ClickHouse (CLICKHOUSE_URL) refuses: ${inOneLine(cause)}`;
    }
    if (nameAnswer(cause) !== cause) return inOneLine(cause);
    // Of one of the shards.
    if (isOutage(cause)) return `ClickHouse refuses: ${inOneLine(cause)}`;
  }
  return error instanceof StoreFailure ? describeConnection(error) : undefined;
}

/** Failure of a connection whose error does not say to what: a certificate, a broken connection. */
function describeConnection({ store, cause }: StoreFailure): string | undefined {
  const { code } = (cause ?? {}) as Details;
  if (!(cause instanceof Error) || typeof code !== 'string' || BUG.test(code)) return undefined;
  const { setting } = STORES.find(({ name }) => name === store) ?? STORES[0];
  const advice = setting === 'DATABASE_URL' && CERTIFICATE.test(code) ? `; ${CERTIFICATE_ADVICE}` : '';
  return `${store} (${setting}) cannot be used: ${inOneLine(cause)}${advice}`;
}

type StoreName = (typeof STORES)[number]['name'];

class StoreFailure extends Error {
  constructor(
    readonly store: StoreName,
    override readonly cause: unknown,
  ) {
    super(`${store} failed`);
  }
}

/** For work with one store: what fails in it is told as a failure of this store. */
export function ofStore<T>(store: StoreName, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof UsageError ? error : new StoreFailure(store, error);
  });
}

/**
 * For commands: prints the sentence, else the message, and sets the exit status: 2 for wrong
 * arguments, else 1.
 */
export function failWithMessage(error: unknown, urls?: Urls): void {
  process.stderr.write(`${describeFailure(error, urls) ?? messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

/** For commands: prints the sentence, or the trace of a bug, and sets the exit status 1. */
export function failCommand(error: unknown, urls?: Urls): void {
  const bug = error instanceof StoreFailure ? error.cause : error;
  const sentence = describeFailure(error, urls);
  process.stderr.write(`${sentence ?? (bug instanceof Error ? (bug.stack ?? bug.message) : String(bug))}\n`);
  process.exitCode = EXIT_FAILED;
}

/** The error, those that it collects (an address of IPv4 and one of IPv6), and its causes. */
function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const collected: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...collected.flatMap(causesOf), ...causesOf(error.cause)];
}

const UNREACHABLE = /^(?:ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|EPIPE)/;

function isOf(error: Error, url: string, defaultPort: number): boolean {
  const { code, port, hostname } = error as Details;
  if (typeof code !== 'string' || !UNREACHABLE.test(code)) return false;
  const target = new URL(url);
  return port === undefined ? hostname === target.hostname : port === Number(target.port || defaultPort);
}

const reasonOf = (error: Error): string =>
  ('code' in error && error.code === 'ECONNREFUSED' ? 'nothing listens there' : error.message) || 'no answer';
