// Command line of `npm run import`.
import { isUuid } from '../platform/ids.js';
import { parseHttpUrl, readArguments, UsageError } from '../platform/usage-error.js';
import { tryToSite } from './site.js';
import type { Source, SourceOptions } from './source.js';
import { findSource, NOT_EVENTS, SOURCES } from './sources/table.js';

export interface ImportArguments extends SourceOptions {
  readonly kind: 'import';
  readonly source: Source;
  /** Files, folders and globs, or `-` for standard input. */
  readonly paths: readonly string[];
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** Id of a project of the service that npm start runs. */
  readonly project: string | undefined;
  readonly isDryRun: boolean;
  readonly overwritesProfiles: boolean;
  readonly identifiesPerSecond: number;
}

export type ParsedArguments = ImportArguments | { readonly kind: 'help' };

/** Below the service's default limit of 200 requests a second for a key. */
const IDENTIFIES_PER_SECOND = 180;

export const HELP = `usage: npm run import -- SOURCE FILE… [options]

Imports the events, identities and profiles of another product. Running it again adds nothing. docs/moving-in.md has the
steps and the mapping of each source.

  SOURCE            ${SOURCES.map(({ name, about }) => `${name.padEnd(14)}${about}`).join('\n                    ')}
  FILE…             files, folders, globs, zip archives; gzip is recognized; - for standard input
  --dry-run         reads and checks all records, sends nothing, and prints the same summary
  --project ID      a project of the service that npm start runs; default: its first one
  --site URL        access-log: the site of the log, such as https://example.com; without it _url is the path;
                    importing again with it mends events that have none
  --source-timezone ZONE
                    mixpanel: the zone of a project that wrote local times, such as Europe/Berlin; default: UTC
  --overwrite-profiles
                    imported properties replace those of existing profiles; by default newer ones stay
  --identifies-per-second N
                    requests of /identify/batch for links and profiles; default ${IDENTIFIES_PER_SECOND}, below IDENTIFY_REQUESTS_PER_SECOND
  --url URL         the service; default: SERVICE_URL, else the one that npm start runs
  --key KEY         a secret key (sk_…); default: SERVICE_KEY, else the one of the project
  --help            this text

Exit status: 0 imported, 1 not (all) imported, 2 wrong arguments, 130 interrupted.
`;

export const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'dry-run': { type: 'boolean' },
  'overwrite-profiles': { type: 'boolean' },
  'identifies-per-second': { type: 'string' },
  'source-timezone': { type: 'string' },
  project: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  site: { type: 'string' },
} as const;

export function parseArguments(args: readonly string[]): ParsedArguments {
  const { values, positionals } = readArguments({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help === true) return { kind: 'help' };
  const [name, ...paths] = positionals;
  if (name === undefined) throw new UsageError('what to import is missing; try --help');
  const source = requireSource(name);
  if (paths.length === 0) throw new UsageError(`the file is missing: ${name} FILE…`);
  if (values.url !== undefined) parseHttpUrl('--url', values.url);
  if (values.project !== undefined && !isUuid(values.project)) {
    throw new UsageError(
      `--project is not the id of a project: "${values.project}"; its settings in the console show it`,
    );
  }
  if (values.project !== undefined && (values.url ?? values.key) !== undefined) {
    throw new UsageError('--project is for the service that npm start runs; elsewhere --key says which project it is');
  }
  return {
    kind: 'import',
    ...{ source, paths, url: values.url, key: values.key, project: values.project },
    site: values.site === undefined ? undefined : parseSite(values.site),
    timeZone: values['source-timezone'] === undefined ? undefined : parseTimeZone(values['source-timezone']),
    isDryRun: values['dry-run'] === true,
    overwritesProfiles: values['overwrite-profiles'] === true,
    identifiesPerSecond: parseRate(values['identifies-per-second'] ?? String(IDENTIFIES_PER_SECOND)),
  };
}

function requireSource(name: string): Source {
  const source = findSource(name);
  if (source !== undefined) return source;
  const why = NOT_EVENTS.get(name);
  if (why !== undefined) throw new UsageError(why);
  throw new UsageError(`cannot import "${name}"; the sources are ${SOURCES.map((known) => known.name).join(', ')}`);
}

function parseSite(text: string): string {
  const site = tryToSite(parseHttpUrl('--site', text));
  if (site === undefined) throw new UsageError('--site takes no query and no fragment');
  return site;
}

function parseTimeZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new UsageError(`--source-timezone is not a time zone: "${zone}"; one is Europe/Berlin`, { cause });
  }
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isInteger(rate) && rate > 0) return rate;
  throw new UsageError(`--identifies-per-second is not a whole number above 0: "${text}"`);
}
