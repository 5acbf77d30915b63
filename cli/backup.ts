// `npm run backup` and `npm run restore`: archive a data directory to one file, and restore it. The
// files of the engines must be consistent, so both take the lock of the directory: the service must
// be stopped.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { packageRoot } from '../src/platform/paths.js';
import { openDataDirectory } from '../standalone/data-directory.js';
import { InstanceLock, LOCK_FILE } from '../standalone/instance-lock.js';
import { StartProblem } from '../standalone/problem.js';
import { say } from '../standalone/terminal.js';

const MEBIBYTE = 1024 * 1024;

async function backup(directory: string, archive: string): Promise<void> {
  if (!existsSync(directory)) throw new StartProblem(`There is nothing to back up: ${directory} does not exist.`);
  if (existsSync(archive)) throw new StartProblem(`${archive} exists already.`);
  const lock = await InstanceLock.take(directory);
  // Written under a temporary name and renamed when complete. Excludes logs, and the lock file of
  // this process.
  const unfinished = `${archive}.unfinished`;
  process.umask(0o077);
  try {
    tar(['-czf', unfinished, '--exclude=./logs', `--exclude=./${LOCK_FILE}`, '-C', directory, '.']);
    renameSync(unfinished, archive);
  } finally {
    rmSync(unfinished, { force: true });
    lock.release();
  }
  say(
    `${archive}: ${(statSync(archive).size / MEBIBYTE).toFixed(1)} MiB. It holds keys and people's data: keep it safe.`,
  );
}

async function restore(directory: string, archive: string): Promise<void> {
  if (!existsSync(archive)) throw new StartProblem(`${archive} does not exist.`);
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new StartProblem(`${directory} is not empty; set DATA_DIR to a folder that is empty or does not exist.`);
  }
  openDataDirectory(directory);
  tar(['-xpzf', archive, '-C', directory]);
  say(`Restored to ${directory}; npm start goes on from there.`);
}

function tar(args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('tar', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (error !== undefined) throw new StartProblem(`tar cannot be run: ${error.message}.`);
  if (status !== 0) throw new StartProblem(`tar failed: ${stderr.trim()}`);
}

/** npm runs scripts in the package folder; INIT_CWD is the folder that paths are relative to. */
async function main([command, file]: readonly (string | undefined)[]): Promise<void> {
  if (file === undefined) throw new StartProblem(`npm run ${command} -- <file.tar.gz>`);
  const directory = resolve(packageRoot, process.env.DATA_DIR || 'data');
  const archive = resolve(process.env.INIT_CWD || '.', file);
  await (command === 'backup' ? backup(directory, archive) : restore(directory, archive));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof StartProblem ? error.message : String(error));
  process.exitCode = 1;
});
