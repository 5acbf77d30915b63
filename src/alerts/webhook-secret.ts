// The key with which a project's webhooks are signed: created when it is first needed, stored
// encrypted, and replaced by admins.
import { encryptSecret, tryDecryptSecret } from '../access/keys.js';
import { type ProjectId, randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

const PREFIX = 'whs_';
const RANDOM_LENGTH = 32;

export interface WebhookSecrets {
  /** Creates the key if there is none. Undefined when SECRET_KEY_BASE has changed since. */
  require(projectId: ProjectId): Promise<string | undefined>;
  /** The new key; the old one signs nothing more. */
  rotate(projectId: ProjectId): Promise<string>;
}

export function createWebhookSecrets(postgres: Postgres, secretKeyBase: string): WebhookSecrets {
  const toRow = (project_id: ProjectId, secret: string) => ({
    project_id,
    encrypted_secret: encryptSecret(secret, secretKeyBase),
  });
  const newSecret = (): string => PREFIX + randomBase62(RANDOM_LENGTH);
  const find = (projectId: ProjectId): Promise<{ encrypted_secret: Buffer } | undefined> =>
    postgres('webhook_secrets').where({ project_id: projectId }).first('encrypted_secret');
  return {
    async require(projectId) {
      const stored = await find(projectId);
      if (stored !== undefined) return tryDecryptSecret(stored.encrypted_secret, secretKeyBase);
      await postgres('webhook_secrets').insert(toRow(projectId, newSecret())).onConflict('project_id').ignore();
      const created = await find(projectId);
      return created && tryDecryptSecret(created.encrypted_secret, secretKeyBase);
    },
    async rotate(projectId) {
      const secret = newSecret();
      await postgres('webhook_secrets')
        .insert({ ...toRow(projectId, secret), created_at: postgres.fn.now() })
        .onConflict('project_id')
        .merge();
      return secret;
    },
  };
}
