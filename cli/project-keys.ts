// Finds projects and their secret keys in the database of the service, for commands that run beside
// it.
import type { Project } from '../src/accounts/answers.js';
import { requireProject } from '../src/accounts/projects.js';
import { describeFailure } from '../src/platform/command-failure.js';
import { readOperatorConfig } from '../src/platform/config.js';
import { isUuid, type ProjectId, toProjectId } from '../src/platform/ids.js';
import { type Postgres, withPostgres } from '../src/platform/postgres/client.js';
import { UsageError } from '../src/platform/usage-error.js';

/**
 * `given` is its id, or its name, which only one project may have. Throws an error that names the
 * store, when it does not answer.
 */
export async function readProject(given: string): Promise<Project> {
  const config = readOperatorConfig();
  const reading = { viewer: 'admin_key', secretKeyBase: config.SECRET_KEY_BASE } as const;
  try {
    return await withPostgres(config, async (postgres) =>
      requireProject(postgres, await findProject(postgres, given), reading),
    );
  } catch (error) {
    const sentence = describeFailure(error, config);
    throw sentence === undefined ? error : new Error(sentence, { cause: error });
  }
}

/** Null when the key cannot be decrypted. */
export const readSecretKey = async (project: string): Promise<string | null> =>
  (await readProject(project)).secret_key ?? null;

async function findProject(postgres: Postgres, given: string): Promise<ProjectId> {
  if (isUuid(given)) return toProjectId(given);
  const ids: string[] = await postgres('projects').where({ name: given }).whereNull('deleted_at').pluck('id');
  const [id, other] = ids;
  if (id === undefined) throw new UsageError(`there is no project "${given}"`);
  if (other !== undefined) throw new UsageError(`${ids.length} projects are called "${given}"; give the id`);
  return toProjectId(id);
}
