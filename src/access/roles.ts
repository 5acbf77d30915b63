// Roles, scopes and kinds of tokens, and what each role may do and give.

/** Of a person in an organization. */
export const ROLES = ['owner', 'admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** What a key or a token may be used for. */
export const SCOPES = ['track', 'query', 'dashboards', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const TOKEN_KINDS = ['personal', 'service'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

const RANK = { member: 0, admin: 1, owner: 2 } as const satisfies Record<Role, number>;

export const isAtLeast = (role: Role, least: Role): boolean => RANK[role] >= RANK[least];

const READS: readonly Scope[] = ['query', 'dashboards'];

/** Scopes that this role may give to a token, and that a personal token keeps. */
const TOKEN_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  member: READS,
  admin: [...READS, 'track'],
  owner: [...READS, 'track', 'admin'],
};

export const tokenScopesOf = (role: Role): readonly Scope[] => TOKEN_SCOPES[role];

export const tokenKindsOf = (role: Role): readonly TokenKind[] =>
  isAtLeast(role, 'admin') ? TOKEN_KINDS : ['personal'];

const CAPABILITIES: readonly (readonly [capability: string, least: Role])[] = [
  ['query', 'member'],
  ['read_dashboards', 'member'],
  ['read_usage', 'member'],
  ['create_personal_token', 'member'],
  ['read_secret_key', 'admin'],
  ['rotate_secret_key', 'admin'],
  ['update_project', 'admin'],
  ['create_service_token', 'admin'],
  ['manage_tokens', 'admin'],
  ['create_admin_token', 'owner'],
  ['delete_project', 'owner'],
];

/** Capabilities of a role in a project, for user interfaces. */
export const capabilitiesOf = (role: Role): string[] =>
  CAPABILITIES.filter(([, least]) => isAtLeast(role, least)).map(([capability]) => capability);
