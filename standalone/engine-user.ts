// Account of an engine when the service is started as root, so that a fault in the engine does not
// give root's rights. The account can access only the engine's folder of DATA_DIR, which stays
// closed to all others.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { StartProblem } from './problem.js';
import { say } from './terminal.js';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface EngineFolderOptions {
  readonly directory: string;
  /** Written at each start; its owner shows whether the last start used the same account. */
  readonly configurationFile: string;
  readonly account: Account | undefined;
}

// CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID. Containers may have removed them from root.
const CAPABILITIES = [0, 1, 3, 5, 6, 7].reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n);

export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Undefined when the service is not started as root, or root cannot change the account, which is
 * then reported. The account must be able to run `probe`; undefined means that the engine could not
 * run as another account anyway.
 */
export function findEngineAccount(
  name: string,
  probe: readonly [string, ...string[]] | undefined,
): Account | undefined {
  if (!isRoot()) return undefined;
  if (probe !== undefined && hasCapabilities()) {
    const account = findAccount(name) ?? createAccount(name);
    if (account !== undefined && canRun(account, probe)) return account;
  }
  sayRunsAsRoot(name);
  return undefined;
}

export const sayRunsAsRoot = (name: string): void =>
  say(`${name} runs as root, because this system gives it no other account.`);

// Arguments: FROM TO COMMAND…
const BIND = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
const MOUNT_POINTS = ['/mnt', '/media', '/srv', '/opt'];

export interface PrivateMount {
  /** The path of the folder for the command. */
  readonly path: string;
  /** Prefix of the command, for root. */
  readonly prefix: readonly [string, ...string[]];
}

/**
 * For a command that uses absolute paths below folders that its account cannot access: a private
 * mount namespace provides the folder at an accessible path. Undefined where mounting is not
 * permitted, as in containers.
 */
export function findPrivateMount(directory: string, needed: readonly string[]): PrivateMount | undefined {
  const isFree = (point: string) =>
    existsSync(point) && ![directory, ...needed].some((path) => path.startsWith(`${point}/`));
  const path = MOUNT_POINTS.find(isFree);
  if (path === undefined) return undefined;
  const prefix = ['unshare', '--mount', '--', 'sh', '-c', BIND, 'sh', directory, path] as const;
  const [command, ...args] = prefix;
  return spawnSync(command, [...args, 'true'], { stdio: 'ignore' }).status === 0 ? { path, prefix } : undefined;
}

/** Gives the folder of an engine, with all its files, to the account, and closes it to others. */
export function prepareEngineFolder({ directory, configurationFile, account }: EngineFolderOptions): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const owner = account ?? own;
  const hasOtherOwner = (path: string) => (lstatSync(path, { throwIfNoEntry: false })?.uid ?? owner.uid) !== owner.uid;
  if (isRoot()) {
    if ([directory, join(directory, configurationFile)].some(hasOtherOwner)) giveTo(owner, directory);
  } else if (hasOtherOwner(directory)) {
    throw new StartProblem(
      `${directory} belongs to another account of this machine, as after a start as root: start as root again, or give DATA_DIR and all in it to your account with chown -R.`,
    );
  }
  // A folder of an earlier version may be readable by others.
  chmodSync(directory, 0o700);
}

/** Replaces the file, without following a link that the engine may have created there. */
export function writeEngineFile(path: string, text: string, account: Account | undefined): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  if (account !== undefined) lchownSync(path, account.uid, account.gid);
}

/** Changes the owner of links themselves, not of their targets. */
function giveTo({ uid, gid }: Account, path: string): void {
  const stats = lstatSync(path);
  if (stats.isDirectory()) for (const name of readdirSync(path)) giveTo({ uid, gid }, join(path, name));
  if (stats.uid !== uid) lchownSync(path, uid, gid);
}

function hasCapabilities(): boolean {
  try {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return (BigInt(`0x${effective}`) & CAPABILITIES) === CAPABILITIES;
  } catch {
    return false;
  }
}

/** Of a program that is asked for its version: one that hangs is killed. */
export const PROBE = { stdio: 'ignore', timeout: 5000, killSignal: 'SIGKILL' } as const;

const canRun = (account: Account, [command, ...args]: readonly [string, ...string[]]): boolean =>
  spawnSync(command, args, { ...PROBE, cwd: '/', ...account }).status === 0;

export function findAccount(name: string): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

export function createAccount(name: string): Account | undefined {
  // shadow-utils, then BusyBox.
  const isCreated =
    spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/bin/false', name], { stdio: 'ignore' })
      .status === 0 || spawnSync('adduser', ['-S', '-D', '-H', name], { stdio: 'ignore' }).status === 0;
  return isCreated ? findAccount(name) : undefined;
}
