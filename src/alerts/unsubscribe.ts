// Unsubscribing of a mailbox from the alerts of a project: a signed link in every mail, which needs
// no session, because a receiver may have no account.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
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
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: unsubscribe links', 32));
  const sign = (claim: string): Buffer => createHmac('sha256', key).update(claim).digest();
  return {
    toUrl({ projectId, address }) {
      const claim = `${projectId}.${Buffer.from(address).toString('base64url')}`;
      return new URL(`${UNSUBSCRIBE_PATH}/${claim}.${sign(claim).toString('base64url')}`, publicUrl).href;
    },
    tryRead(token) {
      const [projectId = '', address = '', signature = ''] = token.split('.');
      const expected = sign(`${projectId}.${address}`);
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected) || !isUuid(projectId)) return undefined;
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
