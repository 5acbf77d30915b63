// Authorization codes in Redis: what a person has allowed, until the client takes its token. A code
// is valid for a minute and works once.
import { digestKey } from '../access/keys.js';
import { type ProjectId, randomBase62 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import type { AgentScope } from './addresses.js';

export interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly personId: string;
  readonly projectId: ProjectId;
  readonly scopes: readonly AgentScope[];
}

const CODE_LENGTH = 43;
const LIFETIME_SECONDS = 60;

const keyOf = (code: string): string => `oauth:code:${digestKey(code).toString('base64url')}`;

export async function createCode(redis: Redis, grant: Grant): Promise<string> {
  const code = randomBase62(CODE_LENGTH);
  await redis.set(keyOf(code), JSON.stringify(grant), 'EX', LIFETIME_SECONDS);
  return code;
}

/** Undefined for a code that is unknown, used or expired. */
export async function takeGrant(redis: Redis, code: string): Promise<Grant | undefined> {
  const text = await redis.getdel(keyOf(code));
  return text === null ? undefined : (JSON.parse(text) as Grant);
}
