// Command lines: options and arguments, and the errors of wrong ones.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { EXIT_USAGE } from './exit-status.js';

/** Invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `parseArgs`, whose problems become a UsageError of one line. */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? toProblem(cause.message) : String(cause), { cause });
  }
}

/** Node's sentences name the argument in quotes, and go on with advice. */
function toProblem(message: string): string {
  const named = /'(.*?)(?: <value>)?'/.exec(message)?.[1] ?? '';
  const option = named.split(', ').at(-1) ?? '';
  if (message.startsWith('Unknown option')) return `there is no option ${named}; try --help`;
  if (message.startsWith('Unexpected argument')) return `the command takes options only, not "${named}"; try --help`;
  if (/argument (?:missing|is ambiguous)/.test(message)) return `${option} needs a value; try --help`;
  return /does not take an argument/.test(message) ? `${option} takes no value; try --help` : message;
}

/** Options that npm uses itself and may have from its own configuration. */
const OF_NPM: ReadonlySet<string> = new Set(['help', 'key']);

/**
 * Throws UsageError for options that npm took for its own because `--` is missing. Without this a
 * command would run as if they were not given: a dry run for real, an import into another project.
 */
export function refuseOptionsOfNpm(options: object, env: Readonly<Record<string, string | undefined>>): void {
  const isTaken = (name: string): boolean => Boolean(env[`npm_config_${name.replaceAll('-', '_')}`]);
  const taken = Object.keys(options).find((name) => !OF_NPM.has(name) && isTaken(name));
  if (taken === undefined) return;
  const script = env.npm_lifecycle_event ?? 'SCRIPT';
  throw new UsageError(
    `npm took --${taken} for an option of its own: write -- before the arguments, as in npm run ${script} -- … --${taken}`,
  );
}

/** Throws UsageError when the text is not a whole number of at least `min`. */
export function requireWholeNumber(option: string, text: string, min: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= min) return number;
  throw new UsageError(`${option} is a whole number of at least ${min}, not "${text}"`);
}

/** Throws UsageError when the text is not an address of http or https. */
export function parseHttpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${option} is not a web address: "${text}"; it begins with https:// or http://`);
  }
  return url;
}

/** The options of a command; wrong ones end the process with one line. */
export function readOptions<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_USAGE);
  }
}
