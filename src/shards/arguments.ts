// Command line of `npm run shards`.
import { isClusterName } from '../platform/clickhouse/running-inserts.js';
import { requireShardNumber } from '../platform/clickhouse/shard-number.js';
import { PARAMETERS_ADVICE } from '../platform/config.js';
import { UsageError } from '../platform/usage-error.js';

export type ShardsCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly urls: readonly string[]; readonly cluster: string | null }
  | { readonly kind: 'several-hosts'; readonly shard: number; readonly cluster: string | null }
  | { readonly kind: 'move'; readonly project: string; readonly shard: number }
  | { readonly kind: 'drain'; readonly shard: number }
  | { readonly kind: 'address'; readonly shard: number; readonly urls: readonly string[] }
  | { readonly kind: 'remove'; readonly shard: number; readonly isLost: boolean };

export const HELP = `usage: npm run shards -- <command>

  list                 the ClickHouse servers on which projects live: projects, their events of 7 days, rows, bytes,
                       health
  add URL…             adds a server; several URLs are its replicas. New projects go to the emptiest
  add URL --several-hosts[=CLUSTER]
                       adds a service with several hosts behind its address (ClickHouse Cloud; cluster "default")
  several-hosts SHARD CLUSTER|none
                       says so of a shard that is there, such as shard 1. Stop the workers first
  move PROJECT SHARD   moves a project to another shard, while it is used; its events wait meanwhile
  drain SHARD          moves all projects of a shard to the emptiest others, and gives it no new ones
  remove SHARD         removes a drained shard, so that its server can be switched off
  remove SHARD --lost  removes a drained shard whose disks do not exist any more; its server is not asked
  address SHARD URL…   changes the addresses of a shard: another name, account or password of the same server, or a
                       server with a copy of its data, or an empty one in the place of a replica. Another order of
                       replicas makes another one the first

A move that was interrupted is begun again by the same command. When the command was killed, a worker cancels the move
within half a minute: the project stays where it was.

DATABASE_URL says where the projects are; without it, the service that npm start runs in DATA_DIR is asked.
`;

/** Throws an error whose message is printed to the terminal. */
export function parseShardsCommand(args: readonly string[]): ShardsCommand {
  const [kind = 'help', ...rest] = args;
  switch (kind) {
    case 'help':
    case '--help':
    case '-h':
      return { kind: 'help' };
    case 'list':
      if (rest.length > 0) throw new UsageError(`list takes no arguments, not "${rest[0]}"`);
      return { kind };
    case 'add':
      return parseAdd(rest);
    case 'several-hosts': {
      const [shard, cluster, ...more] = rest;
      if (shard === undefined || cluster === undefined || more.length > 0) {
        throw new UsageError('several-hosts needs the number of a shard, and the name of a cluster or "none"');
      }
      const name = cluster === 'none' ? null : requireClusterName(cluster);
      return { kind, shard: requireShardNumber(shard), cluster: name };
    }
    case 'move': {
      const [project, shard, ...more] = rest;
      if (project === undefined || shard === undefined)
        throw new UsageError('move needs a project and the number of a shard');
      if (more.length > 0) throw new UsageError(`move takes one project at a time, not also "${more[0]}"`);
      return { kind, project, shard: requireShardNumber(shard) };
    }
    case 'drain': {
      const [shard, ...more] = rest;
      if (shard === undefined) throw new UsageError('drain needs the number of a shard');
      if (more.length > 0) throw new UsageError(`drain takes one shard at a time, not also "${more[0]}"`);
      return { kind, shard: requireShardNumber(shard) };
    }
    case 'address': {
      const [shard, ...urls] = rest;
      if (shard === undefined || urls.length === 0)
        throw new UsageError('address needs the number of a shard, and its URLs');
      return {
        kind,
        shard: requireShardNumber(shard),
        urls: urls.map((url, index) => requireUrl(url, index + 1, kind)),
      };
    }
    case 'remove': {
      const isLost = rest.includes(LOST);
      const [shard, ...more] = rest.filter((text) => text !== LOST);
      if (shard === undefined) throw new UsageError('remove needs the number of a shard');
      if (more.length > 0) throw new UsageError(`remove takes one shard at a time, not also "${more[0]}"`);
      return { kind, shard: requireShardNumber(shard), isLost };
    }
    default:
      throw new UsageError(`there is no command "${kind}"; the commands are ${COMMANDS}`);
  }
}

const COMMANDS = 'list, add, several-hosts, move, drain, remove and address';
const LOST = '--lost';
const OPTION = /^--several-hosts(?:=(.*))?$/s;
/** Name of the cluster in ClickHouse Cloud. */
const CLUSTER = 'default';

function parseAdd(rest: readonly string[]): ShardsCommand {
  const options = rest.filter((text) => text.startsWith('--'));
  const unknown = options.find((text) => !OPTION.test(text));
  if (unknown !== undefined || options.length > 1) throw new UsageError('the option of add is --several-hosts=CLUSTER');
  const urls = rest.filter((text) => !text.startsWith('--')).map((url, index) => requireUrl(url, index, 'add'));
  if (urls.length === 0) throw new UsageError('add needs the URL of a ClickHouse server');
  if (options[0] === undefined) return { kind: 'add', urls, cluster: null };
  if (urls.length > 1) throw new UsageError('--several-hosts is for one URL; several URLs are replicas');
  return { kind: 'add', urls, cluster: requireClusterName(OPTION.exec(options[0])?.[1] ?? CLUSTER) };
}

function requireClusterName(text: string): string {
  if (!isClusterName(text)) throw new UsageError(`"${text}" is not the name of a cluster`);
  return text;
}

/** Names only the position of the text, because it may contain a password. */
function requireUrl(text: string, index: number, command: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`argument ${index + 1} of ${command} is not an http or https URL`);
  }
  if (url.pathname !== '/') {
    throw new UsageError(
      `the URL of argument ${index + 1} of ${command} must have no path: CLICKHOUSE_DATABASE names the database`,
    );
  }
  if (url.search !== '') throw new UsageError(`the URL of argument ${index + 1} of ${command} ${PARAMETERS_ADVICE}`);
  return text;
}
