// The project that `npm start` creates on its first start, with its current keys from the database.
import { digestKey } from '../src/access/keys.js';
import { requireProject } from '../src/accounts/projects.js';
import { toProjectId } from '../src/platform/ids.js';
import type { Postgres } from '../src/platform/postgres/client.js';
import type { StandaloneFile } from './standalone-file.js';

export type FirstProjectKeys = Omit<StandaloneFile, 'url'>;

interface Known {
  readonly project_id: string;
  readonly admin_key: string | null;
  readonly secretKeyBase: string;
}

/**
 * Throws when the project is deleted. After a rotation a key is the new one, or null where only its
 * digest is stored.
 */
export async function readFirstProject(postgres: Postgres, known: Known): Promise<FirstProjectKeys> {
  const reading = { viewer: 'admin_key', secretKeyBase: known.secretKeyBase } as const;
  const project = await requireProject(postgres, toProjectId(known.project_id), reading);
  const digest = digestKey(known.admin_key ?? '');
  const holder = await postgres('organizations')
    .where({ id: project.organization_id, admin_key_digest: digest })
    .first('id');
  return {
    organization_id: project.organization_id,
    project_id: project.id,
    public_key: project.public_key,
    secret_key: project.secret_key ?? null,
    admin_key: holder === undefined ? null : known.admin_key,
  };
}
