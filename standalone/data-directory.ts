// Layout of DATA_DIR, and the secrets that are generated once and stored there.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../src/platform/errors.js';
import { SERVICE_ENVIRONMENT_FILE } from '../src/platform/paths.js';
import { StartProblem } from './problem.js';

/** Every data directory has it, from its first start on. */
export const SECRETS_FILE = 'secrets.json';

export interface DataDirectory {
  readonly path: string;
  readonly postgres: string;
  readonly redis: string;
  readonly clickhouse: string;
  readonly logs: string;
  /** For scripts: the address and the keys of the first project. */
  readonly standaloneFile: string;
  /** For operator commands, while the service runs. */
  readonly serviceEnvironmentFile: string;
}

export interface Secrets {
  readonly secretKeyBase: string;
  /** Password of the superuser. */
  readonly postgresPassword: string;
  readonly postgresServicePassword: string;
  readonly redisPassword: string;
  readonly clickhousePassword: string;
  readonly clickhouseBackupPassword: string;
}

/** Creates what is missing, and closes the folder to others. */
export function openDataDirectory(path: string): DataDirectory {
  const directory = locateDataDirectory(path);
  createFolder(directory.path);
  closeToOthers(directory.path);
  requireOwn(directory.path);
  createFolder(directory.logs);
  closeToOthers(directory.logs);
  return directory;
}

/** Of a folder that may not exist. */
export function locateDataDirectory(path: string): DataDirectory {
  const root = resolve(path);
  return {
    path: root,
    postgres: join(root, 'postgres'),
    redis: join(root, 'redis'),
    clickhouse: join(root, 'clickhouse'),
    logs: join(root, 'logs'),
    standaloneFile: join(root, 'standalone.json'),
    serviceEnvironmentFile: join(root, SERVICE_ENVIRONMENT_FILE),
  };
}

/** Throws a StartProblem that names DATA_DIR. */
export function createFolder(path: string): void {
  try {
    createWithParents(path);
  } catch (error) {
    throw new StartProblem(`${messageOf(error)}; set DATA_DIR to a folder that this account can write.`, {
      cause: error,
    });
  }
}

/** Node's `recursive` never ends below /proc, where a new name has "no such file or directory". */
function createWithParents(path: string): void {
  const isFolder = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder()) return;
  if (dirname(path) !== path) createWithParents(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder()) throw error;
  }
}

/** The directory contains keys and personal data. */
function closeToOthers(path: string): void {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, 0o700);
  } catch (error) {
    throw new StartProblem(
      `${path} is open to other users of this machine (mode ${mode.toString(8)}) and cannot be closed: ${messageOf(error)}; set DATA_DIR to a folder of your own.`,
      { cause: error },
    );
  }
}

/** Root's, after a start as root, or another person's. */
function requireOwn(path: string): void {
  const own = process.getuid?.();
  const { uid } = statSync(path);
  if (own === undefined || own === 0 || own === uid) return;
  throw new StartProblem(
    `${path} belongs to another account of this machine (uid ${uid}): start as that account, or set DATA_DIR to a folder of your own.`,
  );
}

/**
 * For a backup as root. Throws a StartProblem when the service runs as another account, which could
 * not use the files that root leaves. A start as root gives the engines' folders to accounts of
 * their own, also in a directory of another account: there root goes on.
 */
export function requireAccountOf({ path, postgres, redis, clickhouse }: DataDirectory): void {
  const { uid } = statSync(path);
  if (process.getuid?.() !== 0 || uid === 0) return;
  const isOwner = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.uid === uid;
  if (![postgres, redis, clickhouse].some(isOwner)) return;
  throw new StartProblem(
    `${path} belongs to another account of this machine (uid ${uid}): run the backup as that account.`,
  );
}

/** Writes the file only when a secret is missing: it belongs to the account that wrote it last. */
export function readOrCreateSecrets(directory: DataDirectory): Secrets {
  const path = join(directory.path, SECRETS_FILE);
  const secret = () => randomBytes(32).toString('hex');
  const existing = existsSync(path) ? readSecrets(path) : {};
  const secrets: Secrets = {
    secretKeyBase: secret(),
    postgresPassword: secret(),
    postgresServicePassword: secret(),
    redisPassword: secret(),
    clickhousePassword: secret(),
    clickhouseBackupPassword: secret(),
    // A directory of an earlier version lacks the later ones.
    ...existing,
  };
  if (Object.keys(secrets).some((name) => !Object.hasOwn(existing, name))) writePrivateFile(path, secrets);
  return secrets;
}

/** New secrets would open neither the stores nor the keys in them. */
function readSecrets(path: string): Partial<Secrets> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<Secrets>;
  } catch (error) {
    throw new StartProblem(`${path} cannot be read: ${messageOf(error)}; take this file from a backup.`, {
      cause: error,
    });
  }
}

/** Writes a file that only its owner can read, atomically. Throws a StartProblem that names it. */
export function writePrivateFile(path: string, content: object): void {
  try {
    // On disk before it takes the name: a power failure must not leave an empty file of secrets.
    writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new StartProblem(`${path} cannot be written: ${messageOf(error)}.`, { cause: error });
  }
}
