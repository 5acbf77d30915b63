// Terminal output of the supervisor: messages, the warnings of child processes, and the keys after
// the start.
import { join } from 'node:path';
import { packageRoot } from '../src/platform/paths.js';
import { toExport } from '../src/platform/shell.js';
import type { DataDirectory } from './data-directory.js';
import type { FirstProjectKeys } from './first-project.js';
import { LogFile } from './log-file.js';
import type { FirstProject } from './standalone-file.js';
import type { ProcessObserver } from './supervised-process.js';

export const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Ignores write errors: the terminal may close before the supervisor ends. */
export function outliveTerminal(): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
}

/**
 * Writes all output of child processes to DATA_DIR/logs, and warnings and errors to the terminal
 * until `quiet` is called.
 */
export class ChildOutput implements Pick<ProcessObserver, 'line' | 'restarting'> {
  readonly #directory: DataDirectory;
  readonly #files = new Map<string, LogFile>();
  #isQuiet = false;

  constructor(directory: DataDirectory) {
    this.#directory = directory;
  }

  line(name: string, line: string): void {
    let file = this.#files.get(name);
    if (file === undefined) {
      file = new LogFile(this.pathOf(name));
      this.#files.set(name, file);
    }
    file.write(line);
    const warning = this.#isQuiet ? undefined : tryWarning(line);
    if (warning !== undefined) say(`${name} | ${warning}`);
  }

  restarting(name: string, reason: string, pauseMs: number): void {
    const again = pauseMs < PAUSE_TO_MENTION_MS ? 'starting it again' : `trying again in ${pauseMs / 1000} s`;
    const hint = pauseMs < PAUSE_TO_MENTION_MS ? '' : `; it keeps ending, see ${this.pathOf(name)}`;
    say(`${name} stopped: ${reason}; ${again}${hint}.`);
  }

  pathOf(name: string): string {
    return join(this.#directory.logs, `${name}.log`);
  }

  quiet(): void {
    this.#isQuiet = true;
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
  }
}

const PAUSE_TO_MENTION_MS = 2000;
const WARN_LEVEL = 40;
// PostgreSQL's severities, except for "the database system is starting up"; of Redis's lines with
// #, which include its greeting, only failures; Node's errors, which may have a code in brackets.
const ENGINE_PROBLEM =
  /\b(?:WARNING|ERROR|FATAL|PANIC): (?! *the database system is )|\w*Error(?: \[\w+\])?: |\bDB::Exception: | # .*\b(?:Error|Fatal|MISCONF)\b/;

/** Reads the level of pino's lines, and matches those of the engines by pattern. */
function tryWarning(line: string): string | undefined {
  if (!line.startsWith('{')) return ENGINE_PROBLEM.test(line) ? line : undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (level === undefined || level < WARN_LEVEL) return undefined;
    return err?.message === undefined ? (msg ?? line) : `${msg ?? 'error'}: ${err.message}`;
  } catch {
    return line;
  }
}

/** One line for each key. */
export function formatKeys({ public_key, secret_key, admin_key }: FirstProjectKeys): string {
  return [
    `  public key  ${public_key}`,
    `  secret key  ${secret_key ?? 'cannot be read, because SECRET_KEY_BASE has changed: rotate it'}`,
    `  admin key   ${admin_key ?? 'has been rotated: only its digest is stored'}`,
  ].join('\n');
}

/**
 * Prints the address, keys and example commands. Secrets are printed only on the first start and
 * only on a terminal, because logs are kept.
 */
export function announce({ file, isNew }: FirstProject, directory: DataDirectory): void {
  const { url, public_key } = file;
  const showsSecrets = isNew && process.stderr.isTTY;
  const keys = showsSecrets ? formatKeys(file) : `  public key  ${public_key}\n  other keys  npm start -- --keys`;
  const json = `-H "X-API-Key: $SECRET_KEY" -H 'Content-Type: application/json' -d`;
  const event = '{"event_type":"signup","user_id":"ada","event_properties":{"plan":"pro"}}';
  const query = '{"q":"* | last 7d | count by event_type"}';
  const isDefault = directory.path === join(packageRoot, 'data');
  const other = isDefault ? '' : `\n  ${toExport('DATA_DIR', directory.path)}`;
  say(`
Ready at ${url}
${keys}
  console     ${url}/login
  data, logs  ${directory.path}

In a second terminal, in this folder:${other}
  eval "$(npm run -s keys)"                # sets SERVICE_URL, PUBLIC_KEY and SECRET_KEY
  curl "$SERVICE_URL/track?wait=1" ${json} '${event}'
  curl "$SERVICE_URL/query" ${json} '${query}'
  npm run demo                             # something to look at: a shop with 90 days of events
  npm run import -- access-log /var/log/nginx/access.log

Ctrl-C stops everything and keeps the data.`);
}
