// Configuration: parses the environment once, with one schema, and reports every problem. Nothing
// else of the service reads process.env.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { ConfigProblem, orExit } from './config-problem.js';
import { findIgnoredSettings } from './ignored-settings.js';
import { packageRoot, SERVICE_ENVIRONMENT_FILE } from './paths.js';
import { isProcessRunning } from './process-running.js';

const WHOLE = 'must be a whole number';
const wholeNumber = (min: number) => z.coerce.number(WHOLE).int(WHOLE).min(min, `must be at least ${min}`);
const integer = (fallback: number, min = 0) => wholeNumber(min).default(fallback);
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');

const list = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((word) => word.trim() || []));

/** A URL with one of the schemes: `localhost:6379` is a URL too, of the scheme `localhost`. */
const address = (...schemes: readonly string[]) =>
  z.url({
    protocol: new RegExp(`^(?:${schemes.join('|')})$`),
    error: `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    abort: true,
  });

/** Clients of stores decode both, and most throw for a percent sign of the password itself. */
const UNDECODABLE = { error: 'has a % in its user or password that begins no code: write %25 for it' };

function isDecodable(text: string): boolean {
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

const webAddress = () => address('https', 'http');

/** One that has no path, with the reason why. */
const rootAddress = (reason: string) =>
  webAddress().refine((text) => new URL(text).pathname === '/', { error: `must have no path: ${reason}` });

/** Of the address of a ClickHouse, whose client takes settings from them. */
export const PARAMETERS_ADVICE =
  'must have no parameters after a question mark: https:// stands for TLS, and CLICKHOUSE_DATABASE names the database';

const isNetwork = (text: string): boolean => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);

/** What Express understands: names of networks, addresses, and networks with a prefix or a mask. */
const isProxy = (text: string): boolean =>
  /^(?:loopback|linklocal|uniquelocal)$/.test(text) ||
  isNetwork(text) ||
  (/^[\d.]+\/\d+\.[\d.]+$/.test(text) && text.split('/').every((part) => ipaddr.isValid(part)));

/** What Node's resolver takes: an address, or one with a port (`10.0.0.1:53`, `[::1]:53`). */
const isNameServer = (text: string): boolean => {
  const host = text.replace(/^\[(.*)\](?::\d+)?$/, '$1');
  const withoutPort = text.replace(/:\d+$/, '');
  return ipaddr.IPv6.isValid(host) || [host, withoutPort].some((each) => ipaddr.IPv4.isValidFourPartDecimal(each));
};

const MEBIBYTE = 1024 * 1024;

/** URLs separated by commas, or one with several hosts. A password may have commas. */
export const hasSeveralHosts = (text: string): boolean => SEVERAL_HOSTS.test(text);

export const SEVERAL_HOSTS_ADVICE =
  'takes the URL of one server; add further ones, or replicas, by `npm run shards -- add URL URL`';

const SEVERAL_HOSTS = /,\s*https?:|^https?:\/\/(?:[^@/]*@)?[^@/?]*,[^@/?]*(?:[/?]|$)/i;

const settings = z.object({
  NODE_ENV: z.string().default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),

  HOST: z.string().default('127.0.0.1'),
  PORT: integer(8080),
  PUBLIC_URL: rootAddress('the service is served at the root of a host name of its own').optional(),
  SERVICE_URL: webAddress().optional(),
  QUERY_HOST: z.string().default('127.0.0.1'),
  QUERY_PORT: integer(8081),
  QUERY_URL: webAddress().optional(),
  WORKER_HOST: z.string().default('127.0.0.1'),
  WORKER_PORT: wholeNumber(0).optional(),
  WORKER_JOBS: z.string().optional(),
  WEB_WORKER: flag(false),
  // Express reads the text "1" as the address 0.0.0.1, so a number of hops must be a number.
  TRUST_PROXY: z
    .string()
    .refine((text) => /^\d+$/.test(text) || text.split(/ *, */).every(isProxy), {
      error: 'must be loopback, addresses and networks separated by commas, or a number of hops',
    })
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : text))
    .optional(),

  DATABASE_URL: address('postgres', 'postgresql'),
  DATABASE_TLS: z.enum(['url', 'verify', 'self-signed']).default('url'),
  REDIS_URL: address('redis', 'rediss')
    .refine(isDecodable, UNDECODABLE)
    .refine((text) => /^(?:\/\d*)?$/.test(new URL(text).pathname), {
      error: 'must have no path but the number of a database: redis://host:6379/1',
    }),
  REDIS_TLS: z.enum(['verify', 'self-signed']).default('verify'),
  CLICKHOUSE_URL: z
    .string()
    .refine((text) => !hasSeveralHosts(text), { abort: true, error: SEVERAL_HOSTS_ADVICE })
    .pipe(rootAddress('CLICKHOUSE_DATABASE names the database'))
    .refine((text) => new URL(text).search === '', { error: PARAMETERS_ADVICE })
    .refine(isDecodable, UNDECODABLE),
  CLICKHOUSE_DATABASE: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .default('analytics'),
  SECRET_KEY_BASE: z.string().min(32, 'must have at least 32 characters'),
  GEOIP_DATABASE: z.string().optional(),
  GEOIP_HEADERS: z.string().optional(),

  IDP_PRESET: z.enum(['google', 'microsoft', 'gitlab', 'github', 'okta', 'auth0', 'keycloak', 'cognito']).optional(),
  IDP_SUBDOMAIN: z.string().optional(),
  IDP_AUTHORIZE_URL: webAddress().optional(),
  IDP_TOKEN_URL: webAddress().optional(),
  IDP_USERINFO_URL: webAddress().optional(),
  IDP_CLIENT_ID: z.string().optional(),
  IDP_CLIENT_SECRET: z.string().optional(),
  IDP_SCOPE: z.string().optional(),
  IDP_TOKEN_AUTH: z.enum(['client_secret_post', 'client_secret_basic']).default('client_secret_post'),
  IDP_ID: z.string().optional(),
  IDP_LABEL: z.string().optional(),
  IDP_TRUST_EMAIL: flag(false),

  MAX_BATCH_SIZE: integer(2000, 1),
  MAX_REQUEST_BYTES: integer(5 * MEBIBYTE, 1),
  REQUEST_BYTES_IN_FLIGHT_MAX: integer(128 * MEBIBYTE, 1),
  MAX_PROPERTIES_COUNT: integer(256),
  MAX_USER_PROPS_COUNT: integer(128),
  MAX_PROPERTY_KEY_LEN: integer(256, 1),
  MAX_PROPERTY_VALUE_LEN: integer(8192, 1),

  TASK_THREADS: integer(2, 1),

  QUERY_TIMEOUT_MS: integer(30_000, 1),
  QUERY_WAIT_MS: integer(25_000, 1),
  QUERY_CONCURRENCY: integer(6, 1),
  QUERY_CONCURRENCY_PER_PROJECT: integer(3, 1),
  QUERY_QUEUE_PER_PROJECT_MAX: integer(32),
  QUERY_MEMORY_BYTES: integer(2048 * MEBIBYTE, 1),
  ANSWER_CACHE_BYTES: integer(32 * MEBIBYTE),

  INGEST_COMMIT_EVENTS: integer(2000, 1),
  INGEST_COMMIT_DELAY_MS: integer(3),
  INGEST_FLUSH_ROWS: integer(10_000, 1),
  INGEST_FLUSH_DELAY_MIN_MS: integer(20),
  INGEST_FLUSH_DELAY_MAX_MS: integer(500),
  INGEST_PARTITIONS: integer(1, 1),
  INGEST_BACKLOG_JOBS_MAX: integer(20_000, 1),
  REDIS_MEMORY_HIGH_WATER_BYTES: integer(1024 * MEBIBYTE, 1),
  PROJECT_EVENTS_PER_SECOND: integer(50_000, 1),
  PROJECT_BYTES_PER_SECOND: integer(64 * MEBIBYTE, 1),
  INGEST_FIRST_TIMES_MAX: integer(1_000_000, 1),
  INGEST_FIRST_TIMES_PER_PROJECT_MAX: integer(200_000, 1),
  CREDENTIAL_CACHE_MS: integer(1000),
  EXPORTS_MAX: integer(4, 1),
  EXPORTS_OPEN_MAX: integer(32, 1),
  LIVE_VIEWS_OPEN_MAX: integer(64, 1),
  IMPORTS_OPEN_MAX: integer(4, 1),
  IMPORT_UPLOAD_BYTES_MAX: integer(100 * MEBIBYTE, 1),
  EXPORT_READER_TIMEOUT_MS: integer(5 * 60_000, 1),

  TRACK_REQUESTS_PER_SECOND: integer(5000, 1),
  IDENTIFY_REQUESTS_PER_SECOND: integer(200, 1),
  QUERY_REQUESTS_PER_SECOND: integer(20, 1),
  SESSION_REQUESTS_PER_SECOND: integer(20, 1),
  RATE_LIMIT_PROJECT_FACTOR: integer(2, 1),
  RATE_LIMIT_PERSON_FACTOR: integer(4, 1),
  SIGN_IN_REQUESTS_PER_MINUTE: integer(20, 1),
  ERASURES_PER_MINUTE: integer(300, 1),
  EXPORTS_PER_MINUTE: integer(60, 1),
  PRIVACY_READS_PER_MINUTE: integer(600, 1),
  FEATURES_OFF: list(),
  OPERATOR_EMAILS: list(),

  ORGANIZATIONS_PER_PERSON_MAX: integer(20, 1),
  PROJECTS_PER_ORGANIZATION_MAX: integer(100, 1),
  DOMAINS_PER_ORGANIZATION_MAX: integer(50, 1),
  TOKENS_PER_PROJECT_MAX: integer(500, 1),
  TOKENS_PER_PERSON_MAX: integer(100, 1),
  DASHBOARDS_PER_PROJECT_MAX: integer(500, 1),
  DASHBOARDS_PER_PERSON_MAX: integer(200, 1),
  ALERTS_PER_PROJECT_MAX: integer(100, 1),

  INVITATIONS_PER_DAY_MAX: integer(100, 1),
  INVITATIONS_PER_PERSON_PER_DAY_MAX: integer(200, 1),
  INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX: integer(10, 1),
  INVITATION_MAILS_PER_DAY_MAX: integer(5000, 1),
  MAILS_PER_PROJECT_PER_DAY_MAX: integer(500, 1),
  MAILS_PER_ADDRESS_PER_DAY_MAX: integer(200, 1),
  MAILS_OF_PROJECTS_PER_DAY_MAX: integer(10_000, 1),
  DEMOS_PER_DAY_MAX: integer(5, 1),
  SMTP_URL: address('smtp', 'smtps').refine(isDecodable, UNDECODABLE).optional(),
  MAIL_FROM: z.string().default('Event Analytics Service <no-reply@localhost>'),
  DNS_SERVERS: list()
    .refine((texts) => texts.every(isNameServer), {
      error: 'must be addresses of name servers, separated by commas: 10.0.0.2,[fd00::1]:53',
    })
    .transform((texts) => (texts.length === 0 ? undefined : texts)),
  WEBHOOK_PRIVATE_ADDRESSES: list().refine((texts) => texts.every(isNetwork), {
    error: 'must be addresses and networks, separated by commas: 10.1.2.3,fd00::/8',
  }),
  EVENTS_PER_MONTH_MAX: wholeNumber(1).optional(),

  PRIVACY_ANSWER_TIMEOUT_MS: integer(25_000),
  PRIVACY_PURGE_DELAY_MS: integer(30 * 60_000),
  PRIVACY_PURGE_BY_MS: integer(60 * 60_000, 1).pipe(z.number().max(24 * 60 * 60_000)),

  METRICS_ENABLED: flag(true),
});

/** Every setting, with those that only `npm start` reads. */
export const SETTING_NAMES: readonly string[] = [
  ...Object.keys(settings.shape),
  'DATA_DIR',
  'METRICS_HOST',
  'METRICS_PORT',
];

const schema = settings
  .refine((read) => read.PRIVACY_PURGE_DELAY_MS < read.PRIVACY_PURGE_BY_MS, {
    path: ['PRIVACY_PURGE_DELAY_MS'],
    error: 'must be less than PRIVACY_PURGE_BY_MS',
  })
  .refine((read) => read.REDIS_TLS === 'verify' || read.REDIS_URL.startsWith('rediss:'), {
    path: ['REDIS_TLS'],
    error: 'is for a REDIS_URL that begins with rediss://',
  })
  .refine((read) => read.GEOIP_HEADERS === undefined || read.TRUST_PROXY !== undefined, {
    path: ['GEOIP_HEADERS'],
    error: 'needs TRUST_PROXY, which says whose headers are believed',
  });

export type Config = Readonly<z.infer<typeof schema>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset, as in `FOO= node …` and in .env files. */
const withoutEmpty = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));

/** Throws one error that lists every missing or invalid setting by name. */
export function parseConfig(environment: Environment): Config {
  const present = withoutEmpty(environment);
  const parsed = schema.safeParse(present);
  if (parsed.success) return Object.freeze(parsed.data);
  const problems = parsed.error.issues.map(({ code, path, message }) => {
    const name = path.join('.');
    return `${name}: ${code === 'invalid_type' && !Object.hasOwn(present, name) ? 'missing' : message}`;
  });
  throw new ConfigProblem(`the configuration has ${problems.length} problem(s): ${problems.join('; ')}`);
}

export const readConfig = (): Config => parseConfig(process.env);

/** Sentences about settings of the environment and of .env in the current folder without effect. */
export function readIgnoredSettings(): string[] {
  const file = existsSync('.env') ? readFileSync('.env', 'utf8').replace(/^\uFEFF/, '') : undefined;
  return findIgnoredSettings({ known: SETTING_NAMES, environment: process.env, file });
}

export const readConfigOrExit = (): Config => orExit(readConfig);

/** In the file of a running service: the process id of its `npm start`. */
export const HOLDER_PID = 'NPM_START_PID';

/** Where `npm start` keeps its data; the folder may not exist. */
export const dataDirectory = (): string => resolve(packageRoot, process.env.DATA_DIR || 'data');

/** A path of a command line: npm runs commands in the package folder, and names the caller's. */
export const fromCallersFolder = (path: string): string => resolve(process.env.INIT_CWD || '.', path);

/**
 * For operator commands: the environment, or the environment of the running standalone service when
 * no store is set, or when the Redis that is set is the one that it uses.
 */
export function readOperatorConfig(): Config {
  const path = join(dataDirectory(), SERVICE_ENVIRONMENT_FILE);
  const running = readRunningEnvironment(path);
  const { REDIS_URL: redis } = process.env;
  if (redis && redis !== running?.REDIS_URL) return readConfig();
  if (running === undefined) {
    throw new ConfigProblem(
      `no running service found at ${path}: run "npm start" first, or set REDIS_URL and its like`,
    );
  }
  const { [HOLDER_PID]: pid, ...settings } = running;
  if (pid !== undefined && !isProcessRunning(Number(pid))) {
    if (redis) return readConfig();
    throw new ConfigProblem(`npm start, process ${pid}, ended without stopping its service: run "npm start" again`);
  }
  return parseConfig({ ...settings, ...withoutEmpty(process.env) });
}

const readRunningEnvironment = (path: string): Environment | undefined =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
