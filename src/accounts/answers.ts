// Schemas of the answers of the account routes: organizations, members, invitations, domains,
// projects, tokens.
import { z } from 'zod';
import { ROLES, SCOPES, TOKEN_KINDS } from '../access/roles.js';
import { type AnswerOf, instant } from '../platform/answer-fields.js';

const role = z.enum(ROLES);

export const organization = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  role,
  created_at: instant,
});
const adminKey = z.string().meta({ description: 'shown here and never again', examples: ['ak_…'] });
export const newOrganization = organization.extend({ admin_key: adminKey });
export const rotatedAdminKey = z.strictObject({ admin_key: adminKey });

export const member = z.strictObject({
  user_id: z.uuid(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role,
  joined_at: instant,
});
export const removedMember = z.strictObject({ status: z.literal('removed'), user_id: z.uuid() });

export const leftOrganization = z.strictObject({ status: z.literal('left'), id: z.uuid() });

export const invitation = z.strictObject({
  id: z.uuid(),
  email: z.string(),
  role,
  token: z.string().nullable().meta({ description: 'null when it was sent by mail' }),
  accept_url: z.string().nullable(),
  expires_at: instant,
});

export const openInvitation = invitation.omit({ token: true, accept_url: true }).extend({
  invited_by: z.uuid().meta({ description: 'the member who sent it' }),
  created_at: instant,
});
export const revokedInvitation = z.strictObject({ status: z.literal('revoked'), id: z.uuid() });

export const domain = z.strictObject({
  id: z.uuid(),
  domain: z.string(),
  token: z.string(),
  record_name: z.string().meta({ description: 'where the TXT record is published' }),
  record_value: z.string(),
  verified_at: instant.nullable(),
  record_seen_at: instant.nullable().meta({ description: 'when the TXT record was last seen' }),
  /** Null for a domain that is not verified. */
  admits_until: instant.nullable().meta({ description: 'extended each day that the record is found' }),
});
export const removedDomain = z.strictObject({ status: z.literal('removed'), id: z.uuid() });

export const project = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  organization_id: z.uuid(),
  public_key: z.string(),
  /** Null when SECRET_KEY_BASE has changed. */
  secret_key: z.string().nullable().optional().meta({ description: 'for admins and owners, of one project' }),
  role: role.optional(),
  capabilities: z.array(z.string()).optional(),
  ip_policy: z.enum(['anonymize', 'full', 'drop']),
  timezone: z.string(),
  other_sdks: z.boolean().meta({ description: 'whether SDKs of other products may send' }),
  created_at: instant,
});

export const deletedById = z.strictObject({ status: z.literal('deleted'), id: z.uuid() });

const tokenBase = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  kind: z.enum(TOKEN_KINDS),
  scopes: z.array(z.enum(SCOPES)),
  prefix: z.string(),
  created_at: instant,
  expires_at: instant,
});
export const newToken = tokenBase.extend({ token: z.string().meta({ description: 'shown here and never again' }) });
export const token = tokenBase.extend({
  project_id: z.uuid(),
  created_by: z.uuid().nullable(),
  last_used_at: instant.nullable(),
  revoked_at: instant.nullable(),
});

export type Organization = AnswerOf<typeof organization>;
export type Member = AnswerOf<typeof member>;
export type OpenInvitation = AnswerOf<typeof openInvitation>;
export type Domain = AnswerOf<typeof domain>;
export type Project = AnswerOf<typeof project>;
export type CreatedToken = AnswerOf<typeof newToken>;
export type Token = AnswerOf<typeof token>;
