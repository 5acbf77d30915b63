// Says in one sentence why a command failed, and names the store that does not answer, for people
// at a terminal. Errors of drivers have an address at best, and some have no message.
import { inOneLine, isOutage, nameAnswer } from './clickhouse/failures.js';
import { HostsNotMigrated } from './clickhouse/migrate.js';
import type { Config } from './config.js';
import { ConfigProblem } from './config-problem.js';
import { messageOf } from './errors.js';
import { EXIT_FAILED, EXIT_USAGE } from './exit-status.js';
import { NewerData } from './newer-data.js';
import { UsageError } from './usage-error.js';

type Urls = Pick<Config, 'DATABASE_URL' | 'REDIS_URL' | 'CLICKHOUSE_URL'>;

const STORES = [
  { name: 'PostgreSQL', setting: 'DATABASE_URL', port: 5432 },
  { name: 'Redis', setting: 'REDIS_URL', port: 6379 },
  { name: 'ClickHouse', setting: 'CLICKHOUSE_URL', port: 8123 },
] as const;

/** What drivers and Node attach to their errors. */
interface Details {
  readonly code?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
  readonly severity?: unknown;
  readonly type?: unknown;
}

/**
 * Undefined for an error that no outage, address or password explains: a bug, whose trace helps.
 */
export function describeFailure(error: unknown, urls: Urls | undefined): string | undefined {
  if ([ConfigProblem, HostsNotMigrated, NewerData].some((kind) => error instanceof kind)) return messageOf(error);
  for (const cause of causesOf(error)) {
    const store = urls && STORES.find((each) => isOf(cause, urls[each.setting], each.port));
    if (store && urls) {
      const { hostname, port } = new URL(urls[store.setting]);
      const at = `${hostname}:${port || store.port}`;
      return `${store.name} (${store.setting}) cannot be reached at ${at}: ${reasonOf(cause)}`;
    }
    // PostgreSQL's own errors have a severity, ClickHouse's a type.
    const { severity, type } = cause as Details;
    if (typeof severity === 'string') return `PostgreSQL (DATABASE_URL) refuses: ${cause.message}`;
    if (cause.message.startsWith('Knex: Timeout')) return 'PostgreSQL (DATABASE_URL) does not answer';
    if (typeof type === 'string' && /AUTHENTICATION|ACCESS_DENIED|UNKNOWN_DATABASE/.test(type)) {
      return `ClickHouse (CLICKHOUSE_URL) refuses: ${inOneLine(cause)}`;
    }
    if (nameAnswer(cause) !== cause) return inOneLine(cause);
    // Of one of the shards.
    if (isOutage(cause)) return `ClickHouse refuses: ${inOneLine(cause)}`;
  }
  return undefined;
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
  const sentence = describeFailure(error, urls);
  process.stderr.write(`${sentence ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
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
