// `npm run types`: writes the types of a project's events, for clients in TypeScript and Python.
import { writeFileSync } from 'node:fs';
import { env } from 'node:process';
import { readProjectTypes } from '../src/event-types/model.js';
import { toPython } from '../src/event-types/python.js';
import { toTypeScript } from '../src/event-types/typescript.js';
import { resolveTarget } from '../src/imports/target.js';
import { failWithMessage } from '../src/platform/command-failure.js';
import { dataDirectory, fromCallersFolder } from '../src/platform/config.js';
import { readArguments, refuseOptionsOfNpm, UsageError } from '../src/platform/usage-error.js';
import { createAsk } from './ask-service.js';
import { readSecretKey } from './project-keys.js';

const HELP = `usage: npm run -s types -- [options] > events.ts

Writes the types of a project's events, from its catalog, its definitions and the events of the last 90 days.

  --project NAME|ID    default: that of SERVICE_KEY, else the first project of the service that npm start runs
  --language LANGUAGE  typescript (default) or python
  --out FILE           relative to the folder of the call; default: standard output
  --url URL            the service; default: SERVICE_URL, else the one that npm start runs
  --key KEY            a secret key; default: SERVICE_KEY, else read from the database
  --help               this text
`;

const OPTIONS = {
  project: { type: 'string' },
  language: { type: 'string', default: 'typescript' },
  out: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const WRITERS = { typescript: toTypeScript, python: toPython } as const;
const isLanguage = (name: string): name is keyof typeof WRITERS => Object.hasOwn(WRITERS, name);

async function run(): Promise<void> {
  refuseOptionsOfNpm(OPTIONS, env);
  const { values } = readArguments({ options: OPTIONS });
  const { project, language, out, url, key, help } = values;
  if (help === true) return void process.stdout.write(HELP);
  if (!isLanguage(language)) {
    throw new UsageError(`--language is ${Object.keys(WRITERS).join(' or ')}, not "${language}"`);
  }
  // A named project has a key in the database, so that the address of the environment is not used.
  const found = { ...(project === undefined && env), dataDirectory: dataDirectory(), readSecretKey };
  const types = await readProjectTypes(createAsk(await resolveTarget({ url, key, project }, found)));
  if (types.events.length === 0) process.stderr.write('the project has no events: no event has a type\n');
  const text = WRITERS[language](types);
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(fromCallersFolder(out), text);
}

await run().catch((error: unknown) => failWithMessage(error));
