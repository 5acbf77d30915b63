// Chooses the account that PostgreSQL runs as, because it refuses to run as root.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, createAccount, findAccount, findPrivateMount, isRoot, sayRunsAsRoot } from './engine-user.js';
import { StartProblem } from './problem.js';
import type { ProcessSpec } from './supervised-process.js';

export interface PostgresUser {
  /** Owner of the cluster's files; undefined for the supervisor's own account. */
  readonly owner?: Account;
  /**
   * Runs a program of PostgreSQL on a folder; `args` receives the path of the folder for the
   * program.
   */
  command(
    program: string,
    folder: string,
    args: (path: string) => readonly string[],
  ): Pick<ProcessSpec, 'command' | 'args' | 'user'>;
}

type Command = readonly [command: string, ...args: string[]];

const ACCOUNT = 'postgres';
// In a user namespace root appears as user 1000 to PostgreSQL: without capabilities, but with
// access to root's files.
const NAMESPACE: Command = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'];

/**
 * `programs`: the folder that contains `bin`. `parent`: the parent of the cluster's folder, which
 * may not exist yet.
 */
export function findPostgresUser(options: { readonly programs: string; readonly parent: string }): PostgresUser {
  const { programs, parent } = options;
  if (!isRoot())
    return { command: (program, folder, args) => ({ command: binary(programs, program), args: args(folder) }) };
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const found = tryPrivateMounts(programs, parent) ?? tryNamespace(programs) ?? tryAccount(programs, parent);
  if (found !== undefined) return found;
  throw new StartProblem(
    'PostgreSQL refuses to run as root, and no other user can reach its files here: start as another user, set DATA_DIR and the clone to a place that the user postgres can read, or set DATABASE_URL to a server that is already running.',
  );
}

const binary = (programs: string, name: string): string => join(programs, 'bin', name);

const runs = ([command, ...args]: Command, account?: Account): boolean =>
  spawnSync(command, args, { stdio: 'ignore', cwd: '/', ...account }).status === 0;

/**
 * A separate account, with the programs and the cluster at accessible paths in a private mount
 * namespace.
 */
function tryPrivateMounts(programs: string, parent: string): PostgresUser | undefined {
  const forPrograms = findPrivateMount(programs, [parent, process.execPath]);
  if (forPrograms === undefined) return undefined;
  const account = findAccount(ACCOUNT) ?? createAccount(ACCOUNT);
  if (account === undefined) return undefined;
  const { uid, gid } = account;
  const become = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--'];
  const program = (name: string): string[] => [...forPrograms.prefix, ...become, binary(forPrograms.path, name)];
  const [command, ...args] = program('postgres');
  if (command === undefined || !runs([command, ...args, '--version'])) return undefined;
  return {
    owner: account,
    command: (name, folder, argsFor) => {
      const mount = findPrivateMount(folder, [programs, `${forPrograms.path}/`]);
      if (mount === undefined) throw new StartProblem(`${folder} cannot be mounted for PostgreSQL.`);
      const [first, ...rest] = mount.prefix;
      return { command: first, args: [...rest, ...program(name), ...argsFor(mount.path)] };
    },
  };
}

function tryNamespace(programs: string): PostgresUser | undefined {
  if (!runs([...NAMESPACE, 'true'])) return undefined;
  sayRunsAsRoot(ACCOUNT);
  const [command, ...prefix] = NAMESPACE;
  return { command: (name, folder, args) => ({ command, args: [...prefix, binary(programs, name), ...args(folder)] }) };
}

function tryAccount(programs: string, parent: string): PostgresUser | undefined {
  const account = findAccount(ACCOUNT) ?? createAccount(ACCOUNT);
  if (account === undefined) return undefined;
  // Execute without read permission: the folder cannot be listed by others.
  chmodSync(parent, 0o711);
  const canPass = (path: string) => runs(['test', '-x', path], account);
  if (!canPass(binary(programs, 'initdb')) || !canPass(parent)) return undefined;
  return {
    owner: account,
    command: (name, folder, args) => ({ command: binary(programs, name), args: args(folder), user: account }),
  };
}
