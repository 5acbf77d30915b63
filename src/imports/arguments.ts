// Command line of `npm run import`.
import { parseArgs } from 'node:util';

export interface ImportArguments {
  readonly kind: 'import';
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly site: string | undefined;
}

export type ParsedArguments = ImportArguments | { readonly kind: 'help' };

/** Invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const HELP = `usage: npm run import -- access-log FILE [options]

Turns an access log of Apache or nginx (combined or common format) into page_view events. Each has the line's own time,
address and user agent, and the properties url, referrer, status, method and bytes. Running it again adds nothing.

  FILE              the log, plain or gzip (.gz), or - for standard input
  --site URL        the site of the log, such as https://example.com, for _url and _hostname; without it _url is the path
  --url URL         the service; default: SERVICE_URL, else the one that npm start runs
  --key KEY         a secret key (sk_…); default: SERVICE_KEY, else the one that npm start made
  --help            this text

Exit status: 0 imported, 1 not (all) imported, 2 wrong arguments, 130 interrupted.
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  url: { type: 'string' },
  key: { type: 'string' },
  site: { type: 'string' },
} as const;

export function parseArguments(args: readonly string[]): ParsedArguments {
  const { values, positionals } = readArguments(args);
  if (values.help === true) return { kind: 'help' };
  const [source, file, ...rest] = positionals;
  if (source === undefined) throw new UsageError('what to import is missing; try --help');
  if (source !== 'access-log') throw new UsageError(`cannot import "${source}"; the only kind is access-log`);
  if (file === undefined) throw new UsageError('the file is missing: access-log FILE');
  if (rest.length > 0) throw new UsageError(`one file at a time; unexpected "${rest.join(' ')}"`);
  const site = values.site === undefined ? undefined : parseSite(values.site);
  if (values.url !== undefined) parseHttpUrl('--url', values.url);
  return { kind: 'import', file, url: values.url, key: values.key, site };
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Without trailing slash, because paths begin with one. */
function parseSite(text: string): string {
  const site = parseHttpUrl('--site', text);
  if (site.search !== '' || site.hash !== '') throw new UsageError('--site takes no query and no fragment');
  return `${site.origin}${site.pathname}`.replace(/\/+$/, '');
}

function parseHttpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${option} is not a web address: "${text}"; it begins with https:// or http://`);
  }
  return url;
}
