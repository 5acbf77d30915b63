// Paths of the authorization of agents (OAuth 2.1), and the two documents by which their clients
// find them. Pure.
import type { Scope } from '../access/roles.js';

export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource';
export const AUTHORIZATION_SERVER_PATH = '/.well-known/oauth-authorization-server';
const REGISTER_PATH = '/oauth/register';
const AUTHORIZE_PATH = '/oauth/authorize';
const TOKEN_PATH = '/oauth/token';
const REVOKE_PATH = '/oauth/revoke';

const MCP_PATH = '/mcp';

/** An agent's token has at least one of them. */
export const AGENT_SCOPES = ['query', 'dashboards'] as const satisfies readonly Scope[];
export type AgentScope = (typeof AGENT_SCOPES)[number];

/** Address of POST /mcp, for which the tokens are. */
export const resourceOf = (publicUrl: URL): string => new URL(MCP_PATH, publicUrl).href;

/** Where a client finds the first document; in the challenge of POST /mcp (RFC 9728, 5.1). */
export const resourceMetadataUrl = (publicUrl: URL): string =>
  new URL(`${PROTECTED_RESOURCE_PATH}${MCP_PATH}`, publicUrl).href;

/** RFC 9728. */
export const describeResource = (publicUrl: URL) => ({
  resource: resourceOf(publicUrl),
  authorization_servers: [publicUrl.origin],
  scopes_supported: AGENT_SCOPES,
  bearer_methods_supported: ['header'],
  resource_name: 'Event Analytics Service',
});

/** RFC 8414. */
export const describeAuthorizationServer = (publicUrl: URL) => ({
  issuer: publicUrl.origin,
  authorization_endpoint: new URL(AUTHORIZE_PATH, publicUrl).href,
  token_endpoint: new URL(TOKEN_PATH, publicUrl).href,
  registration_endpoint: new URL(REGISTER_PATH, publicUrl).href,
  revocation_endpoint: new URL(REVOKE_PATH, publicUrl).href,
  scopes_supported: AGENT_SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
});
