// Command line of `npm run shards`.

export type ShardsCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly urls: readonly string[] }
  | { readonly kind: 'move'; readonly project: string; readonly shard: number }
  | { readonly kind: 'drain'; readonly shard: number };

export const HELP = `npm run shards -- <command>

  list                 the ClickHouse servers on which projects live: projects, rows, bytes, events of a day, health
  add URL…             adds a server; several URLs are its replicas. New projects go to the emptiest
  move PROJECT SHARD   moves a project to another shard, while it is used; its events wait meanwhile
  drain SHARD          moves all projects of a shard to the emptiest others, and gives it no new ones

A move that was interrupted is begun again by the same command.

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
      if (rest.length > 0) throw new Error(`list takes no arguments, not "${rest[0]}"`);
      return { kind };
    case 'add':
      if (rest.length === 0) throw new Error('add needs the URL of a ClickHouse server');
      return { kind, urls: rest.map(requireUrl) };
    case 'move': {
      const [project, shard, ...more] = rest;
      if (project === undefined || shard === undefined)
        throw new Error('move needs a project and the number of a shard');
      if (more.length > 0) throw new Error(`move takes one project at a time, not also "${more[0]}"`);
      return { kind, project, shard: requireNumber(shard) };
    }
    case 'drain': {
      const [shard, ...more] = rest;
      if (shard === undefined) throw new Error('drain needs the number of a shard');
      if (more.length > 0) throw new Error(`drain takes one shard at a time, not also "${more[0]}"`);
      return { kind, shard: requireNumber(shard) };
    }
    default:
      throw new Error(`there is no command "${kind}"; the commands are list, add, move and drain`);
  }
}

function requireNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`"${text}" is not the number of a shard`);
  return Number(text);
}

/** Names only the position of the text, because it may contain a password. */
function requireUrl(text: string, index: number): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error(`argument ${index + 1} of add is not an http or https URL`);
  }
  return text;
}
