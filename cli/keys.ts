// `npm run keys`: the address and the keys of a project of a running service as shell commands, so
// that `eval "$(npm run -s keys)"` sets the variables that the examples and the clients read.
import { resolve } from 'node:path';
import { env } from 'node:process';
import { parseArgs } from 'node:util';
import { type Project, requireProject } from '../src/accounts/projects.js';
import { readStandalone } from '../src/imports/target.js';
import { UsageError } from '../src/imports/usage-error.js';
import { describeFailure } from '../src/platform/command-failure.js';
import { type Config, readOperatorConfig } from '../src/platform/config.js';
import { isUuid, type ProjectId, toProjectId } from '../src/platform/ids.js';
import { packageRoot } from '../src/platform/paths.js';
import { createPostgres, type Postgres } from '../src/platform/postgres/client.js';

const HELP = `usage: eval "$(npm run -s keys)"
       eval "$(npm run -s keys -- --project "Demo shop")"

Prints commands that set SERVICE_URL, SERVICE_KEY and SECRET_KEY (both the secret key), and PUBLIC_KEY in a shell.

  --project NAME|ID    default: the first project, which npm start created
  --help               this text
`;

let config: Config | undefined;

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { project: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return void process.stdout.write(HELP);
  const { url, project_id: firstProject } = await findService();
  config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 1 });
  try {
    const projectId = await findProject(postgres, values.project ?? firstProject);
    const reading = { viewer: 'admin_key', secretKeyBase: config.SECRET_KEY_BASE } as const;
    const project = await requireProject(postgres, projectId, reading);
    process.stdout.write(toCommands(project, url));
  } finally {
    await postgres.destroy();
  }
}

/** The service of `npm start`, else the one at SERVICE_URL, which has no first project. */
function findService(): Promise<{ readonly url: string; readonly project_id?: string }> {
  return readStandalone(resolve(packageRoot, env.DATA_DIR || 'data')).catch((error: unknown) => {
    if (env.SERVICE_URL) return { url: env.SERVICE_URL };
    throw error;
  });
}

/** By id, else by its name, which only one project may have. */
async function findProject(postgres: Postgres, given: string | undefined): Promise<ProjectId> {
  if (given === undefined) throw new UsageError('--project is missing: its name or its id');
  if (isUuid(given)) return toProjectId(given);
  const ids: string[] = await postgres('projects').where({ name: given }).whereNull('deleted_at').pluck('id');
  const [id, other] = ids;
  if (id === undefined) throw new UsageError(`there is no project "${given}"`);
  if (other !== undefined) throw new UsageError(`${ids.length} projects are called "${given}"; give the id`);
  return toProjectId(id);
}

function toCommands({ public_key: publicKey, secret_key: secretKey }: Project, url: string): string {
  if (secretKey === null || secretKey === undefined) {
    throw new Error('the secret key cannot be read, because SECRET_KEY_BASE has changed: rotate it');
  }
  const variables = { SERVICE_URL: url, SERVICE_KEY: secretKey, SECRET_KEY: secretKey, PUBLIC_KEY: publicKey };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
    .join('');
}

// To standard error: a shell evaluates standard output.
await run().catch((error: unknown) => {
  const message = describeFailure(error, config) ?? (error instanceof Error ? error.message : String(error));
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
});
