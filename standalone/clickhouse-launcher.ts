// Process of the embedded ClickHouse server: calls the command line that libchdb.so exports, in a
// thread. The library's session API cannot listen; its command line (clickhouse-local) can. It runs
// the contents of two FIFOs in order: the first starts the HTTP server, the second is empty and
// ends the engine cleanly when it is closed. Started as root, the process changes to the given
// account as soon as it has opened the library, which that account may not be able to read.
// Arguments: LIBRARY DIRECTORY [UID GID].
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type * as Ffi from 'ffi-rs';
import { CONFIG_FILE, START_SQL } from './clickhouse-config.js';

const ffi = createRequire(import.meta.url)('ffi-rs') as typeof Ffi;
const LIBRARY = 'chdb';
const READER_POLL_MS = 10;

const [libraryPath, directory, uid, gid] = process.argv.slice(2);
if (libraryPath === undefined || directory === undefined) throw new Error('LIBRARY and DIRECTORY are required');
ffi.open({ library: LIBRARY, path: libraryPath });
if (uid !== undefined && gid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(gid));
  process.setuid?.(Number(uid));
}

// Named by process, so that a second one, which the engine rejects, does not disturb the first.
const runFolder = join(directory, `run.${process.pid}`);
const workingFolder = join(runFolder, 'working');
const startFifo = join(runFolder, 'start.fifo');
const stopFifo = join(runFolder, 'stop.fifo');
removeLeftovers(directory);
// Of an earlier process with the same pid, as after a crash of the machine or container.
rmSync(runFolder, { recursive: true, force: true });
mkdirSync(workingFolder, { recursive: true, mode: 0o700 });
execFileSync('mkfifo', ['-m', '600', startFifo, stopFifo]);
process.chdir(workingFolder);
process.on('exit', () => rmSync(runFolder, { recursive: true, force: true }));

let isStopping = false;
const listening = startListening();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    void end();
  });
}

const configFile = join(directory, CONFIG_FILE);
const args = ['clickhouse', '--config-file', configFile, '--queries-file', startFifo, stopFifo];
const problem = errorOf(await runEngine(args));
if (problem !== undefined) process.stderr.write(`${problem}\n`);
process.exit(isStopping && problem === undefined ? 0 : 1);

/** Resolves once the engine serves requests, with the file whose closing ends it. */
async function startListening(): Promise<FileHandle> {
  // The engine reads it when it has loaded its tables.
  const start = await openWithReader(startFifo);
  // Without a working directory the function file() fails: clickhouse-local does not confine it,
  // and no grant covers it.
  rmdirSync(workingFolder);
  await start.writeFile(START_SQL);
  await start.close();
  return openWithReader(stopFifo);
}

/**
 * Resolves once the FIFO has a reader. A blocking open would wait in a thread that Node joins at
 * exit: the process of an engine that failed before reading the FIFO would never end.
 */
async function openWithReader(fifo: string): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENXIO')) throw error;
    }
    await delay(READER_POLL_MS);
  }
}

async function end(): Promise<void> {
  const file = await listening;
  // The engine aborts when it shuts down without a working directory.
  process.chdir(runFolder);
  await file.close();
}

function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^run\.(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves with the engine's chdb_result when it has ended. */
function runEngine(args: string[]): Promise<Ffi.JsExternal> {
  const { I32, StringArray, External } = ffi.DataType;
  return ffi.load({
    library: LIBRARY,
    funcName: 'chdb_query_cmdline',
    retType: External,
    paramsType: [I32, StringArray],
    paramsValue: [args.length, args],
    runInNewThread: true,
  });
}

function errorOf(result: Ffi.JsExternal): string | undefined {
  if (ffi.isNullPointer(result)) return 'the engine ended without a result';
  const { External, String: Text } = ffi.DataType;
  const call = { library: LIBRARY, funcName: 'chdb_result_error', paramsType: [External], paramsValue: [result] };
  if (ffi.isNullPointer(ffi.load({ ...call, retType: External }))) return undefined;
  return ffi.load({ ...call, retType: Text });
}
