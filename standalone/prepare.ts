// One-shot process between the engines and the service: creates the embedded database, migrates
// both stores, and creates the first organization and project. A separate process, so that the
// supervisor does not load the database clients.
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { markStandaloneOrganization } from '../src/accounts/people.js';
import { createOrganization, createProject } from '../src/accounts/store.js';
import { HostsNotMigrated, migrateShards } from '../src/platform/clickhouse/migrate.js';
import { type Config, readConfig } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { type Postgres, withPostgres } from '../src/platform/postgres/client.js';
import { answerOfPostgres } from '../src/platform/postgres/failures.js';
import { migratePostgres } from '../src/platform/postgres/migrate.js';
import { StepProgress } from '../src/platform/progress.js';
import { writePrivateFile } from './data-directory.js';
import { type FirstProjectKeys, readFirstProject } from './first-project.js';
import { ensureDatabase, ensureServiceRole, grantLogMaintenance, handOverObjects } from './postgres-accounts.js';
import { StartProblem } from './problem.js';
import { begunFileOf, type FirstProject, type StandaloneFile } from './standalone-file.js';

const { values } = parseArgs({
  options: {
    'standalone-file': { type: 'string' },
    url: { type: 'string' },
    /** For the embedded PostgreSQL; the superuser's URL is read from standard input. */
    'create-database': { type: 'boolean', default: false },
    /** Number of a shard that has lost its data and gets empty tables. */
    lost: { type: 'string' },
  },
});

const progress = new StepProgress(process.stdout);

async function prepare(config: Config): Promise<void> {
  // Ends when the stores are ready; the modules are loaded until then.
  const superuserUrl = readFileSync(0, 'utf8');
  if (values['create-database']) {
    await step('PostgreSQL could not be prepared', () => createDatabase(config, superuserUrl));
  }
  await step('PostgreSQL (DATABASE_URL) could not be used', () => requireKnownProject(config));
  await step('PostgreSQL (DATABASE_URL) could not be migrated', () => migratePostgres(config, progress));
  await step('ClickHouse (CLICKHOUSE_URL) could not be migrated', () => migrateAll(config));
  await step('The first project could not be created', () => ensureFirstProject(config));
}

/** A shard that does not answer does not keep the projects of the others waiting. */
async function migrateAll(config: Config): Promise<void> {
  try {
    await migrateShards(config, { progress, lost: values.lost === undefined ? undefined : Number(values.lost) });
  } catch (error) {
    if (!(error instanceof HostsNotMigrated && error.isFirstMigrated)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

async function step(problem: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new StartProblem(`${problem}: ${answerOfPostgres(error) ?? messageOf(error)}.`, { cause: error });
  }
}

async function createDatabase(config: Config, url: string): Promise<void> {
  const { password, pathname } = new URL(config.DATABASE_URL);
  const superuserUrl = new URL(url);
  superuserUrl.pathname = '/postgres';
  await withPostgres({ DATABASE_URL: superuserUrl.href }, async (postgres) => {
    await ensureServiceRole(postgres, password);
    await ensureDatabase(postgres, pathname.slice(1));
  });
  superuserUrl.pathname = pathname;
  await withPostgres({ DATABASE_URL: superuserUrl.href }, async (postgres) => {
    await handOverObjects(postgres);
    await grantLogMaintenance(postgres);
  });
}

/**
 * Throws when the database lacks the project of the file: a new one would take its place there, and
 * the file has the only copy of the admin key. Before the database is migrated.
 */
async function requireKnownProject(config: Config): Promise<void> {
  const path = values['standalone-file'] ?? '';
  if (!existsSync(path)) return;
  const { project_id: id } = readStandaloneFile(path);
  await withPostgres(config, async (postgres) => {
    const isMigrated = await postgres.schema.hasTable('projects');
    if (isMigrated && (await postgres('projects').where({ id }).first('id')) !== undefined) return;
    const own = values['create-database']
      ? 'restore it from a backup'
      : 'unset DATABASE_URL if the database is the one in DATA_DIR';
    throw new StartProblem(
      `${path} names the project ${id}, which it does not have; ${own}, or move the file away for a new first project`,
    );
  });
}

/**
 * Creates a project when the file is missing, or names a deleted one. A start that is killed before
 * it has announced the keys leaves them in the file `begun`: the next one takes its project, and
 * announces them.
 */
async function ensureFirstProject(config: Config): Promise<void> {
  const path = values['standalone-file'] ?? '';
  const url = values.url ?? '';
  await withPostgres(config, async (postgres) => {
    const begun = begunFileOf(path);
    const known = await findExisting(postgres, [path, begun]);
    const project =
      known === undefined
        ? await createFirstProject(postgres, config, (created) => writePrivateFile(begun, { url, ...created }))
        : await readFirstProject(postgres, { ...known, secretKeyBase: config.SECRET_KEY_BASE });
    if (known !== undefined) await markStandaloneOrganization(postgres, project.organization_id);
    const file: StandaloneFile = { url, ...project };
    writePrivateFile(path, file);
    process.send?.({ file, isNew: existsSync(begun) } satisfies FirstProject);
  });
}

/** The first of the files whose project exists. */
async function findExisting(postgres: Postgres, paths: readonly string[]): Promise<StandaloneFile | undefined> {
  for (const path of paths) {
    const file = existsSync(path) ? readStandaloneFile(path) : undefined;
    if (file !== undefined && (await projectExists(postgres, file.project_id))) return file;
  }
  return undefined;
}

function readStandaloneFile(path: string): StandaloneFile {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as StandaloneFile;
  } catch (error) {
    const advice = 'take this file from a backup, or remove it for a new first project';
    throw new StartProblem(`${path} cannot be read: ${messageOf(error)}; ${advice}`, { cause: error });
  }
}

/** `keep` is called before others see the organization and the project. */
function createFirstProject(
  postgres: Postgres,
  config: Config,
  keep: (created: FirstProjectKeys) => void,
): Promise<FirstProjectKeys> {
  return postgres.transaction(async (transaction) => {
    const organization = await createOrganization(transaction, { name: 'My organization', isStandalone: true });
    const project = await createProject(transaction, {
      organizationId: organization.id,
      name: 'My project',
      secretKeyBase: config.SECRET_KEY_BASE,
    });
    const created: FirstProjectKeys = {
      organization_id: organization.id,
      project_id: project.id,
      public_key: project.publicKey,
      secret_key: project.secretKey,
      admin_key: organization.adminKey,
    };
    keep(created);
    return created;
  });
}

const projectExists = async (postgres: Postgres, id: string): Promise<boolean> =>
  (await postgres('projects').where({ id }).whereNull('deleted_at').first('id')) !== undefined;

try {
  await prepare(readConfig());
} catch (error) {
  // The supervisor prints the last line on the terminal.
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
