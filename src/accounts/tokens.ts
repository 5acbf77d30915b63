// Access tokens in PostgreSQL. A token is returned once and only its digest is stored.
// src/access/find-credential.ts checks its rights when it is used.
import { digestKey, newKey, shownPrefix } from '../access/keys.js';
import { isAtLeast, type Role, type TokenKind, tokenKindsOf, tokenScopesOf } from '../access/roles.js';
import { PublicError } from '../platform/errors.js';
import { isUuid, newUuidV7, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { CreatedToken, Token } from './answers.js';
import { tryParseDuration } from './duration.js';
import { type Quotas, requireTokenQuota } from './quotas.js';
import type { TokenRequest } from './schema.js';

const SHOWN = [
  'access_tokens.id',
  'project_id',
  'access_tokens.name',
  'kind',
  'scopes',
  'prefix',
  'created_by',
  'access_tokens.created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const;

/** The acting person and their role. */
export interface Actor {
  readonly personId: string;
  readonly role: Role;
}

export interface NewToken {
  readonly personId: string;
  readonly request: TokenRequest;
  readonly quotas: Quotas;
}

export async function createToken(
  postgres: Postgres,
  projectId: ProjectId,
  { personId, request, quotas }: NewToken,
): Promise<CreatedToken> {
  const token = newKey('token');
  const now = new Date();
  const created = {
    id: newUuidV7(now.getTime()),
    name: request.name,
    kind: request.kind,
    scopes: request.scopes,
    prefix: shownPrefix(token),
    expires_at: new Date(now.getTime() + (tryParseDuration(request.expires_in) ?? 0)),
    created_at: now,
  };
  await postgres.transaction(async (transaction) => {
    await requireCreatable(transaction, projectId, { personId, request, quotas });
    await transaction('access_tokens').insert({
      ...created,
      digest: digestKey(token),
      project_id: projectId,
      created_by: personId,
    });
    await forgetEnded(transaction, quotas, { projectId, personId, kind: request.kind });
  });
  return { ...created, token };
}

/** Throws what createToken would throw now. */
export const checkToken = (postgres: Postgres, projectId: ProjectId, token: NewToken): Promise<void> =>
  postgres.transaction((transaction) => requireCreatable(transaction, projectId, token));

async function requireCreatable(
  transaction: Postgres,
  projectId: ProjectId,
  { personId, request, quotas }: NewToken,
): Promise<void> {
  requirePermission(await lockRole(transaction, projectId, personId), request);
  await requireTokenQuota(transaction, quotas, { projectId, personId, kind: request.kind });
}

/**
 * The person may have lost the role while the body arrived, and a service token would outlast it.
 * The role cannot change until the end of the transaction.
 */
async function lockRole(transaction: Postgres, projectId: ProjectId, personId: string): Promise<Role> {
  const member: { role: Role } | undefined = await transaction('members')
    .join('projects', 'projects.organization_id', 'members.organization_id')
    .where({ 'projects.id': projectId, person_id: personId })
    .whereNull('deleted_at')
    .forShare('members')
    .first('role');
  if (member === undefined) throw new PublicError('not_found', 'there is no such project');
  return member.role;
}

/** Of those that have expired or were revoked, the newest stay: as many as may be active. */
async function forgetEnded(
  transaction: Postgres,
  quotas: Quotas,
  { projectId, personId, kind }: { projectId: ProjectId; personId: string; kind: TokenKind },
): Promise<void> {
  const [owned, kept] =
    kind === 'personal'
      ? [personal(personId), quotas.TOKENS_PER_PERSON_MAX]
      : [{ project_id: projectId, kind }, quotas.TOKENS_PER_PROJECT_MAX];
  const older = transaction('access_tokens')
    .where(owned)
    .where((ended) => ended.whereNotNull('revoked_at').orWhere('expires_at', '<=', transaction.fn.now()))
    .orderBy('id', 'desc')
    .offset(kept)
    .select('id');
  await transaction('access_tokens').whereIn('id', older).delete();
}

function requirePermission(role: Role, { kind, scopes }: TokenRequest): void {
  if (!tokenKindsOf(role).includes(kind)) {
    throw new PublicError('forbidden', `tokens of kind ${kind} are created by admins and owners; your role is ${role}`);
  }
  const allowed = tokenScopesOf(role);
  const refused = scopes.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0) {
    throw new PublicError(
      'forbidden',
      `your role is ${role}, which may give the scopes ${allowed.join(', ')}, not ${refused.join(', ')}`,
    );
  }
}

const newestFirst = { column: 'access_tokens.id', order: 'desc' };

/** Members see their own tokens; admins and owners all tokens of the project. */
export const listTokens = (postgres: Postgres, projectId: ProjectId, actor: Actor): Promise<Token[]> =>
  postgres('access_tokens')
    .where({ project_id: projectId, ...ownOnly(actor) })
    .orderBy([newestFirst])
    .select(SHOWN);

/** For a member, tokens of others do not exist. */
export const revokeToken = (
  postgres: Postgres,
  token: { id: string; projectId: ProjectId },
  actor: Actor,
): Promise<Token> => revoke(postgres, token.id, { project_id: token.projectId, ...ownOnly(actor) });

const ownOnly = (actor: Actor) => (isAtLeast(actor.role, 'admin') ? {} : { created_by: actor.personId });

const personal = (personId: string) => ({ created_by: personId, kind: 'personal' });

export const listPersonalTokens = (postgres: Postgres, personId: string): Promise<Token[]> =>
  postgres('access_tokens')
    .join('projects', 'projects.id', 'project_id')
    .where(personal(personId))
    .whereNull('deleted_at')
    .orderBy([newestFirst])
    .select(SHOWN);

export const revokePersonalToken = (postgres: Postgres, id: string, personId: string): Promise<Token> =>
  revoke(postgres, id, personal(personId));

/** By the token itself. An unknown token and one that is not personal change nothing. */
export async function revokePresentedToken(postgres: Postgres, token: string): Promise<void> {
  await postgres('access_tokens')
    .where({ digest: digestKey(token), kind: 'personal' })
    .update(revokedNow(postgres));
}

/** A token that is revoked already keeps its time. */
const revokedNow = (postgres: Postgres) => ({ revoked_at: postgres.raw('coalesce(revoked_at, now())') });

/** Idempotent. */
async function revoke(postgres: Postgres, id: string, where: Readonly<Record<string, string>>): Promise<Token> {
  const [token]: Token[] = isUuid(id)
    ? await postgres('access_tokens')
        .where({ id, ...where })
        .update(revokedNow(postgres))
        .returning(SHOWN)
    : [];
  if (token === undefined) throw new PublicError('not_found', 'there is no such token');
  return token;
}
