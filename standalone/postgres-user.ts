// Chooses the user that PostgreSQL runs as, because it refuses to run as root.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createAccount, findAccount } from './engine-user.js';
import { StartProblem } from './problem.js';

export interface PostgresUser {
  /** Prefix of the command. */
  readonly prefix: readonly string[];
  readonly ids?: { readonly uid: number; readonly gid: number };
}

export function commandAs(
  user: PostgresUser,
  binary: string,
  args: readonly string[],
): {
  command: string;
  args: string[];
} {
  const [command = binary, ...rest] = [...user.prefix, binary];
  return { command, args: [...rest, ...args] };
}

// In a user namespace root appears as user 1000 to PostgreSQL, while its files stay root's: no
// account is needed, and no folder above the data must be opened for one.
const NAMESPACE = { prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'] };

export function findPostgresUser(options: { binary: string; directory: string }): PostgresUser {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const probe = commandAs(NAMESPACE, 'true', []);
  if (spawnSync(probe.command, probe.args, { stdio: 'ignore' }).status === 0) return NAMESPACE;

  const ids = findAccount('postgres') ?? createAccount('postgres');
  if (ids !== undefined && canReach(ids, options)) return { prefix: [], ids };
  throw new StartProblem(
    'PostgreSQL refuses to run as root, and no other user can reach its files here: start as another user, set DATA_DIR and the clone to a place that the user postgres can read, or set DATABASE_URL to a server that is already running.',
  );
}

function canReach(ids: { uid: number; gid: number }, options: { binary: string; directory: string }): boolean {
  const parent = dirname(options.directory);
  mkdirSync(parent, { recursive: true });
  // Execute without read permission: the folder cannot be listed by others.
  chmodSync(parent, 0o711);
  const canPass = (path: string) => spawnSync('test', ['-x', path], { stdio: 'ignore', ...ids }).status === 0;
  return canPass(options.binary) && canPass(parent);
}
