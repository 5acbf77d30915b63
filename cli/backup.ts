// `npm run backup` and `npm run restore`: the data of `npm start` in one file, written while it
// runs or when it is stopped, and restored into an empty data directory.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BackupCommand, HELP, parseBackupArguments } from '../src/operate/backup-arguments.js';
import { dataDirectory, fromCallersFolder } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE } from '../src/platform/exit-status.js';
import { createInterruptSignal } from '../src/platform/interrupt.js';
import { formatCount, StepProgress } from '../src/platform/progress.js';
import { backUpRunning } from '../standalone/backup/back-up-running.js';
import { backUpStopped } from '../standalone/backup/back-up-stopped.js';
import type { Manifest } from '../standalone/backup/manifest.js';
import { restoreArchive } from '../standalone/backup/restore.js';
import { openDataDirectory, SECRETS_FILE } from '../standalone/data-directory.js';
import { tryReadLock } from '../standalone/instance-lock.js';
import { StartProblem } from '../standalone/problem.js';
import { isRunning } from '../standalone/process-identity.js';
import { say } from '../standalone/terminal.js';

const MEBIBYTE = 1024 * 1024;

const interrupted = createInterruptSignal();
const progress = new StepProgress(process.stderr);

async function backUp(path: string, archive: string): Promise<void> {
  if (!existsSync(path)) throw new StartProblem(`There is nothing to back up: ${path} does not exist.`);
  requireData(path);
  if (existsSync(archive)) throw new StartProblem(`${archive} exists already.`);
  requireWritable(archive);
  process.umask(0o077);
  const lock = tryReadLock(path);
  const isLive = lock !== undefined && isRunning(lock.holder);
  const shown = { progress, signal: interrupted };
  const directory = openDataDirectory(path);
  if (isLive) return sayWritten(archive, describe(await backUpRunning(directory, archive, shown)));
  const missing = await backUpStopped(directory, archive, shown);
  sayWritten(archive, describe(undefined));
  if (missing === undefined) return;
  say(`It has no data of ${missing}: copy it by BACKUP DATABASE before the service starts (ops/runbooks/backup.md).`);
}

/** Opening a data directory closes the folder to others: that must not happen to another one. */
function requireData(path: string): void {
  if (existsSync(join(path, SECRETS_FILE))) return;
  throw new StartProblem(`There is nothing to back up: ${path} is no data directory of npm start.`);
}

/** Before anything is copied. */
function requireWritable(archive: string): void {
  try {
    accessSync(`${dirname(archive)}/`, constants.W_OK);
  } catch (error) {
    throw new StartProblem(`${archive} cannot be written: ${messageOf(error)}.`, { cause: error });
  }
}

function sayWritten(archive: string, content: string): void {
  progress.clear();
  const mebibytes = (statSync(archive).size / MEBIBYTE).toFixed(1);
  say(
    `${archive}: ${mebibytes} MiB, ${content}; written and read again. It holds keys and people's data: keep it safe.`,
  );
}

/** The point in time that a restored service continues from. */
const describe = (manifest: Manifest | undefined): string =>
  manifest === undefined
    ? 'the files of the stopped service'
    : `everything accepted before ${manifest.point}, with ${formatCount(manifest.clickhouse.events)} stored events`;

async function restore(path: string, archive: string): Promise<void> {
  const { manifest, missing } = await restoreArchive(path, archive, { progress, signal: interrupted });
  progress.clear();
  say(`Restored to ${path}: ${describe(manifest)}. npm start goes on from there.`);
  if (missing !== undefined) {
    say(`It has no data of ${missing}: RESTORE DATABASE there before the service starts (ops/runbooks/backup.md).`);
  }
  say('People who were erased since then are in it again: repeat those erasures (docs/operating.md).');
}

async function run(command: BackupCommand): Promise<void> {
  if (command.kind === 'help') return void process.stdout.write(HELP[command.of]);
  const archive = fromCallersFolder(command.file);
  await (command.kind === 'backup' ? backUp(dataDirectory(), archive) : restore(dataDirectory(), archive));
}

function fail(error: unknown): void {
  progress.clear();
  if (interrupted.aborted) {
    say('interrupted; nothing is left behind: run the same command again');
    process.exitCode = EXIT_INTERRUPTED;
    return;
  }
  say(messageOf(error));
  process.exitCode = EXIT_FAILED;
}

const command = parseBackupArguments(process.argv.slice(2));
if (command.kind === 'wrong') {
  say(command.problem);
  process.exitCode = EXIT_USAGE;
} else await run(command).catch(fail);
