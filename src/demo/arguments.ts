// Command line of `npm run demo`: its options, their checks and the text of --help.
import { parseHttpUrl, readArguments, UsageError } from '../platform/usage-error.js';

export interface DemoArguments {
  readonly kind: 'create' | 'refresh' | 'delete' | 'help';
  readonly people: number | undefined;
  readonly seed: string | undefined;
  readonly url: string | undefined;
  readonly organization: string | undefined;
}

const PEOPLE_MAX = 200_000;

export const HELP = `usage: npm run demo -- [options]

Creates the project "Demo shop" in the running service: 90 days of a shop, made by a seeded generator and ending now, two
dashboards, and five questions to ask. It is a project of its own; your projects are not touched.

  --delete             deletes the demo project and its data
  --refresh            deletes it and creates it again, ending now
  --people N           how many people visit the shop; default 15000, which makes about 200,000 events
  --seed TEXT          another seed makes another shop; default "demo"
  --organization ID    where the project is created; default: the organization that npm start created
  --url URL            the service; default: SERVICE_URL, else the one that npm start runs
  --help               this text

The databases are those of the service that npm start runs, or those of DATABASE_URL and its like.

Exit status: 0 done, 1 failed or there is one already, 2 wrong arguments, 130 interrupted.
`;

export const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  delete: { type: 'boolean' },
  refresh: { type: 'boolean' },
  people: { type: 'string' },
  seed: { type: 'string' },
  organization: { type: 'string' },
  url: { type: 'string' },
} as const;

/** Throws UsageError. */
export function parseDemoArguments(args: readonly string[]): DemoArguments {
  const { values } = readArguments({ args: [...args], options: OPTIONS });
  if (values.delete === true && values.refresh === true) {
    throw new UsageError('--delete and --refresh exclude each other');
  }
  const kind = values.help ? 'help' : values.delete ? 'delete' : values.refresh ? 'refresh' : 'create';
  const { seed, organization, url } = values;
  if (url !== undefined) parseHttpUrl('--url', url);
  return { kind, seed, organization, url, people: values.people === undefined ? undefined : readPeople(values.people) };
}

function readPeople(text: string): number {
  const people = Number(text);
  if (/^\d+$/.test(text) && people >= 1 && people <= PEOPLE_MAX) return people;
  throw new UsageError(`--people is a whole number from 1 to ${PEOPLE_MAX}, not "${text}"`);
}
