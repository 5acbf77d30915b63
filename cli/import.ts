// `npm run import`: parses the command line, runs the import, prints progress and the summary.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { requireProject } from '../src/accounts/projects.js';
import { HELP, type ImportArguments, parseArguments, UsageError } from '../src/imports/arguments.js';
import { type ImportSummary, importAccessLog } from '../src/imports/import-access-log.js';
import { type Line, readLines } from '../src/imports/line-reader.js';
import { openLogFile } from '../src/imports/log-file.js';
import { formatCount, ProgressDisplay } from '../src/imports/progress.js';
import { resolveTarget } from '../src/imports/target.js';
import { createTrackClient, TrackError } from '../src/imports/track-client.js';
import { readOperatorConfig } from '../src/platform/config.js';
import { toProjectId } from '../src/platform/ids.js';
import { packageRoot } from '../src/platform/paths.js';
import { createPostgres } from '../src/platform/postgres/client.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const UNPARSABLE_SHOWN_MAX = 5;
const NOTHING: ImportSummary = { lines: 0, sent: 0, accepted: 0, skipped: 0, unparsable: 0 };

const interrupt = new AbortController();
const display = new ProgressDisplay(process.stderr);

async function run(): Promise<void> {
  const args = parseArguments(process.argv.slice(2));
  if (args.kind === 'help') {
    process.stdout.write(HELP);
    return;
  }
  const summary = await importFile(args);
  display.clear();
  process.stdout.write(toReport(summary));
  const isOtherFormat = summary.lines > 0 && summary.unparsable === summary.lines;
  if (isOtherFormat) throw new Error(`no line of ${args.file} is in the common or combined log format`);
}

/** npm runs scripts in the package folder; INIT_CWD is the folder that paths are relative to. */
async function importFile(args: ImportArguments): Promise<ImportSummary> {
  const dataDirectory = resolve(packageRoot, env.DATA_DIR ?? 'data');
  const target = await resolveTarget(args, { ...env, dataDirectory, readSecretKey });
  const path = args.file === '-' ? args.file : resolve(env.INIT_CWD ?? '.', args.file);
  const file = await openLogFile(path, process.stdin, interrupt.signal);
  const library = `service-import/${readVersion()}`;
  const startedMs = performance.now();
  let summary = NOTHING;
  const send = createTrackClient({
    ...target,
    userAgent: library,
    signal: interrupt.signal,
    onRetry: createRetryNotes(),
  });
  try {
    return await importAccessLog(readLines(file.stream), {
      send,
      library,
      site: args.site,
      onUnparsable: createUnparsableNotes(),
      onProgress: (now) => {
        summary = now;
        const elapsedMs = performance.now() - startedMs;
        display.update({ summary, bytesRead: file.bytesRead(), bytesTotal: file.bytesTotal, elapsedMs });
      },
    });
  } catch (cause) {
    display.clear();
    if (summary.sent > 0) process.stdout.write(toReport(summary));
    throw cause;
  }
}

async function readSecretKey(projectId: string): Promise<string | null> {
  const config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 1 });
  try {
    const reading = { viewer: 'admin_key', secretKeyBase: config.SECRET_KEY_BASE } as const;
    return (await requireProject(postgres, toProjectId(projectId), reading)).secret_key ?? null;
  } finally {
    await postgres.destroy();
  }
}

/** Concurrent requests fail with the same message: print it once. */
function createRetryNotes(): (reason: string, delayMs: number) => void {
  let shown = '';
  return (reason, delayMs) => {
    const note = `${reason}; trying again in ${delayMs / 1000} s`;
    if (note !== shown) display.note(note);
    shown = note;
  };
}

/** Prints only the first unparsable lines: a log of another format has nothing else. */
function createUnparsableNotes(): (line: Line) => void {
  let count = 0;
  return (line) => {
    count += 1;
    const excerpt = JSON.stringify(line.text.slice(0, 80));
    if (count <= UNPARSABLE_SHOWN_MAX) display.note(`line ${line.number} does not parse: ${excerpt}`);
    else if (count === UNPARSABLE_SHOWN_MAX + 1) display.note('further lines that do not parse are only counted');
  };
}

const toReport = (summary: ImportSummary): string =>
  Object.entries(summary)
    .map(([name, count]: [string, number]) => `${name.padEnd(11)}${formatCount(count).padStart(14)}\n`)
    .join('');

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '0';
  return String(version);
}

const GO_ON = 'run the same command again to go on: what was imported is not counted twice';

function fail(cause: unknown): void {
  display.clear();
  const { status, message } = explain(cause);
  process.stderr.write(`${message}\n`);
  process.exitCode = status;
}

function explain(cause: unknown): { status: number; message: string } {
  if (interrupt.signal.aborted) return { status: EXIT_INTERRUPTED, message: `interrupted; ${GO_ON}` };
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof UsageError) return { status: EXIT_USAGE, message };
  const mayGoOn = cause instanceof TrackError && cause.isPassing;
  return { status: EXIT_FAILED, message: mayGoOn ? `${message}\n${GO_ON}` : message };
}

process.once('SIGINT', () => interrupt.abort());
await run().catch(fail);
