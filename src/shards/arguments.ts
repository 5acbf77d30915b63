// Command line of `npm run shards`.

export type ShardsCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly urls: readonly string[] };

export const HELP = `npm run shards -- <command>

  list          the ClickHouse servers on which projects live: projects, rows, bytes, events of a day, health
  add URL…      adds a server; several URLs are its replicas. New projects go to the emptiest

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
    default:
      throw new Error(`there is no command "${kind}"; the commands are list and add`);
  }
}

/** Names only the position of the text, because it may contain a password. */
function requireUrl(text: string, index: number): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error(`argument ${index + 1} of add is not an http or https URL`);
  }
  return text;
}
