// `npm run import`: parses the command line, runs the import, prints progress and the summary.
import { relative, sep } from 'node:path';
import { env } from 'node:process';
import { HELP, type ImportArguments, OPTIONS, parseArguments } from '../src/imports/arguments.js';
import { createImportClients } from '../src/imports/import-clients.js';
import { findInput, type InputFile } from '../src/imports/input/input-files.js';
import { libraryOf } from '../src/imports/library.js';
import { showProgress } from '../src/imports/progress.js';
import { type ImportOptions, runImport } from '../src/imports/run-import.js';
import { findFailure, type ImportSummary, toReport } from '../src/imports/summary.js';
import { resolveTarget } from '../src/imports/target.js';
import { TrackError } from '../src/imports/track-client.js';
import { dataDirectory, fromCallersFolder } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE } from '../src/platform/exit-status.js';
import { letHeapGrowBy } from '../src/platform/heap-growth.js';
import { createInterruptSignal } from '../src/platform/interrupt.js';
import { ProgressDisplay } from '../src/platform/progress.js';
import { refuseOptionsOfNpm, UsageError } from '../src/platform/usage-error.js';
import { readSecretKey } from './project-keys.js';

// V8's own choice on a machine with much memory doubles the memory of a long import.
letHeapGrowBy(70);

const interrupted = createInterruptSignal();
const display = new ProgressDisplay(process.stderr);

async function run(): Promise<void> {
  refuseOptionsOfNpm(OPTIONS, env);
  const args = parseArguments(process.argv.slice(2));
  if (args.kind === 'help') {
    process.stdout.write(HELP);
    return;
  }
  const summary = await importPaths(args);
  display.clear();
  process.stdout.write(toReport(summary, args));
  const failure = findFailure(summary, args);
  if (failure !== undefined) throw new Error(failure);
}

async function importPaths(args: ImportArguments): Promise<ImportSummary> {
  const clients = args.isDryRun ? undefined : await createClients(args);
  const folder = fromCallersFolder('.');
  const paths = args.paths.map((path) => (path === '-' ? path : fromCallersFolder(path)));
  const input = await findInput(paths, { stdin: process.stdin, signal: interrupted });
  const startedMs = performance.now();
  let summary: ImportSummary | undefined;
  try {
    return await runImport(namedFrom(folder, input.files), {
      clients,
      open: args.source.open(args),
      library: libraryOf(args.source.name),
      nowMs: Date.now(),
      overwritesProfiles: args.overwritesProfiles,
      signal: interrupted,
      onSkipped: (reason, place) => display.note(`${place}: ${reason}`),
      onProgress: (now) => {
        summary = now;
        const { read, skippedCount: skipped, links, profiles } = now;
        const state = { read, skipped, identities: links + profiles };
        const bytes = { bytesRead: input.bytesRead(), bytesTotal: input.bytesTotal };
        showProgress(display, { ...state, ...bytes, elapsedMs: performance.now() - startedMs });
      },
    });
  } catch (cause) {
    display.clear();
    if (summary !== undefined) process.stdout.write(toReport(summary, args));
    throw cause;
  }
}

async function createClients(args: ImportArguments): Promise<NonNullable<ImportOptions['clients']>> {
  const target = await resolveTarget(args, { ...env, dataDirectory: dataDirectory(), readSecretKey });
  const { site, identifiesPerSecond } = args;
  return createImportClients({
    ...{ ...target, source: args.source.name, site, identifiesPerSecond },
    ...{ signal: interrupted, onRetry: createRetryNotes() },
  });
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

/** Files with the names that they have from the folder of the command, as places are printed. */
const namedFrom = (folder: string, files: readonly InputFile[]): InputFile[] =>
  files.map((file) => (file.name.startsWith(folder + sep) ? { ...file, name: relative(folder, file.name) } : file));

const GO_ON = 'run the same command again to go on: what was imported is not counted twice';

function fail(cause: unknown): void {
  display.clear();
  const { status, message } = explain(cause);
  process.stderr.write(`${message}\n`);
  process.exitCode = status;
}

function explain(cause: unknown): { status: number; message: string } {
  if (interrupted.aborted) return { status: EXIT_INTERRUPTED, message: `interrupted; ${GO_ON}` };
  const message = messageOf(cause);
  if (cause instanceof UsageError) return { status: EXIT_USAGE, message };
  const mayGoOn = cause instanceof TrackError && cause.isPassing;
  return { status: EXIT_FAILED, message: mayGoOn ? `${message}\n${GO_ON}` : message };
}

await run().catch(fail);
