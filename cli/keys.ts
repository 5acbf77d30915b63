// `npm run keys`: the address and the keys of a project of a running service as shell commands, so
// that `eval "$(npm run -s keys)"` sets the variables that the examples and the clients read.
import { env } from 'node:process';
import type { Project } from '../src/accounts/answers.js';
import { readStandalone } from '../src/imports/target.js';
import { failWithMessage } from '../src/platform/command-failure.js';
import { dataDirectory } from '../src/platform/config.js';
import { toExport } from '../src/platform/shell.js';
import { readArguments, refuseOptionsOfNpm, UsageError } from '../src/platform/usage-error.js';
import { readProject } from './project-keys.js';

const HELP = `usage: eval "$(npm run -s keys)"
       eval "$(npm run -s keys -- --project "Demo shop")"

Prints commands that set SERVICE_URL, SERVICE_KEY and SECRET_KEY (both the secret key), and PUBLIC_KEY in a shell.

  --project NAME|ID    default: the first project, which npm start created
  --help               this text
`;

const OPTIONS = { project: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;

async function run(): Promise<void> {
  refuseOptionsOfNpm(OPTIONS, env);
  const { values } = readArguments({ options: OPTIONS });
  if (values.help === true) return void process.stdout.write(HELP);
  const { url, project_id: firstProject } = await findService();
  const given = values.project ?? firstProject;
  if (given === undefined) throw new UsageError('--project is missing: its name or its id');
  process.stdout.write(toCommands(await readProject(given), url));
}

/** The service of `npm start`, else the one at SERVICE_URL, which has no first project. */
function findService(): Promise<{ readonly url: string; readonly project_id?: string }> {
  return readStandalone(dataDirectory(), 'set SERVICE_URL').catch((error: unknown) => {
    if (env.SERVICE_URL) return { url: env.SERVICE_URL };
    throw error;
  });
}

function toCommands({ public_key: publicKey, secret_key: secretKey }: Project, url: string): string {
  if (secretKey === null || secretKey === undefined) {
    throw new Error('the secret key cannot be read, because SECRET_KEY_BASE has changed: rotate it');
  }
  const variables = { SERVICE_URL: url, SERVICE_KEY: secretKey, SECRET_KEY: secretKey, PUBLIC_KEY: publicKey };
  return Object.entries(variables)
    .map(([name, value]) => `${toExport(name, value)}\n`)
    .join('');
}

// To standard error: a shell evaluates standard output.
await run().catch((error: unknown) => failWithMessage(error));
