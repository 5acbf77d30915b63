// Unsubscribing of a mailbox from the alerts of a project: a signed link in every mail, which needs
// no session, because a receiver may have no account.
import { createSignedClaims } from '../access/signed-claims.js';
import { isUuid, type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export interface Subscriber {
  readonly projectId: ProjectId;
  readonly address: string;
}

export interface UnsubscribeLinks {
  toUrl(subscriber: Subscriber): string;
  /** Undefined for a token that this service has not made. */
  tryRead(token: string): Subscriber | undefined;
}

const UNSUBSCRIBE_PATH = '/unsubscribe';

/** The token has the form `<project>.<address>.<signature>`, the last two in base64url. */
export function createUnsubscribeLinks(secretKeyBase: string, publicUrl: URL): UnsubscribeLinks {
  const claims = createSignedClaims(secretKeyBase, 'unsubscribe links');
  return {
    toUrl({ projectId, address }) {
      const token = claims.sign(`${projectId}.${Buffer.from(address).toString('base64url')}`);
      return new URL(`${UNSUBSCRIBE_PATH}/${token}`, publicUrl).href;
    },
    tryRead(token) {
      const [projectId = '', address = ''] = claims.tryRead(token)?.split('.') ?? [];
      if (!isUuid(projectId)) return undefined;
      return { projectId: toProjectId(projectId), address: Buffer.from(address, 'base64url').toString() };
    },
  };
}

const rowOf = ({ projectId, address }: Subscriber) => ({ project_id: projectId, address });

export async function unsubscribe(postgres: Postgres, subscriber: Subscriber): Promise<void> {
  await postgres('alert_unsubscribes').insert(rowOf(subscriber)).onConflict(['project_id', 'address']).ignore();
}

export async function subscribeAgain(postgres: Postgres, subscriber: Subscriber): Promise<void> {
  await postgres('alert_unsubscribes').where(rowOf(subscriber)).delete();
}

export async function isUnsubscribed(postgres: Postgres, subscriber: Subscriber): Promise<boolean> {
  return (await postgres('alert_unsubscribes').where(rowOf(subscriber)).first('address')) !== undefined;
}
