// Entry point of `npm start` after set-up and build: parses options, takes the lock of the data
// directory and runs the supervisor. It reads only what it needs from the environment; the
// processes of the service parse theirs with platform/config.ts.
import { rmSync } from 'node:fs';
import { requireShardNumber } from '../src/platform/clickhouse/shard-number.js';
import { dataDirectory, readIgnoredSettings } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { EXIT_FAILED, EXIT_USAGE } from '../src/platform/exit-status.js';
import { describeNodeVersion } from '../src/platform/node-version.js';
import { returnMemoryAtRest } from '../src/platform/rest-memory.js';
import { UsageError } from '../src/platform/usage-error.js';
import { removeLeftCopies } from './backup/left-copies.js';
import { locateDataDirectory, openDataDirectory } from './data-directory.js';
import { tryPort } from './free-port.js';
import { InstanceLock } from './instance-lock.js';
import { StartProblem } from './problem.js';
import { begunFileOf } from './standalone-file.js';
import { reachableHost, Supervisor } from './supervisor.js';
import { announce, ChildOutput, outliveTerminal, say } from './terminal.js';

// npm forwards the signal that the terminal has already sent to all processes: that is not a second
// Ctrl-C.
const ECHO_MS = 1000;
const KEYS_OPTION = '--keys';
const LOST_OPTION = '--lost';
const PROBLEMS_OF_PORTS: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EACCES']);

async function main(): Promise<void> {
  outliveTerminal();
  returnMemoryAtRest();
  const caller = process.env;
  const [option, ...values] = process.argv.slice(2);
  if (option === KEYS_OPTION) {
    if (values[0] !== undefined) throw new UsageError(`${KEYS_OPTION} takes no arguments, not ${values[0]}`);
    return showKeysOf(dataDirectory());
  }
  const lost = option === LOST_OPTION ? requireShardNumber(values[0]) : undefined;
  if (option !== undefined && lost === undefined)
    throw new UsageError(`npm start has no option ${option}; it has ${KEYS_OPTION}, ${LOST_OPTION} and --yes.`);
  if (values[1] !== undefined) throw new UsageError(`${LOST_OPTION} takes one shard, not also ${values[1]}`);
  const host = caller.HOST || '127.0.0.1';
  const port = parsePort(caller.PORT);
  const directory = openDataDirectory(dataDirectory());
  // Before the lock is written: they may have filled the disk.
  removeLeftCopies(directory);
  const lock = await InstanceLock.take(directory.path);
  const output = new ChildOutput(directory);
  const url = `http://${reachableHost(host)}:${port}`;
  const node = describeNodeVersion(process.versions.node);
  if (node !== undefined) say(`${node.sentence}.`);
  for (const sentence of readIgnoredSettings()) say(`${sentence}.`);
  const supervisor = new Supervisor({ caller, directory, lock, output, host, port, url, lost });
  // Child processes end with this process, however it ends.
  process.once('exit', () => supervisor.kill());

  const stop = async () => {
    output.quiet();
    await supervisor.stop();
    output.close();
    lock.release();
  };
  const isStopping = stopOnSignals(supervisor, stop);
  try {
    await requireFreePort(host, port);
    say(`Starting in ${directory.path} …`);
    announce(await supervisor.start(), directory);
    rmSync(begunFileOf(directory.standaloneFile), { force: true });
  } catch (error) {
    if (isStopping()) return;
    await stop();
    throw error;
  }
}

/** Imported here only, so that the supervisor does not load the database clients. */
async function showKeysOf(path: string): Promise<void> {
  const { showKeys } = await import('./show-keys.js');
  await showKeys(locateDataDirectory(path).standaloneFile).catch((error: unknown) => {
    throw error instanceof StartProblem ? error : new StartProblem(messageOf(error), { cause: error });
  });
}

/**
 * The first Ctrl-C stops in order, a second one at once. The returned function tells whether the
 * first was received.
 */
function stopOnSignals(supervisor: Supervisor, stop: () => Promise<void>): () => boolean {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        say('\nStopping; Ctrl-C again to force.');
        stop().then(
          () => process.exit(0),
          (error: unknown) => exitWith(error),
        );
      } else if (performance.now() - firstAt > ECHO_MS) {
        supervisor.kill();
        process.exit(130);
      }
    });
  }
  return () => firstAt !== undefined;
}

function parsePort(text: string | undefined): number {
  const port = Number(text || 8080);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new StartProblem(`PORT is ${text}; it has to be a number from 1 to 65535.`);
}

async function requireFreePort(host: string, port: number): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = code === 'EADDRINUSE' ? 'it is taken by another program' : messageOf(error);
    const advice = PROBLEMS_OF_PORTS.has(code) ? 'set PORT to another one' : 'set HOST to an address of this machine';
    throw new StartProblem(`Port ${port} of ${host} cannot be used: ${reason}; ${advice}.`, { cause: error });
  }
}

function exitWith(error: unknown): never {
  const isSaid = error instanceof StartProblem || error instanceof UsageError;
  say(isSaid ? error.message : String(error instanceof Error ? error.stack : error));
  process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED);
}

main().catch(exitWith);
