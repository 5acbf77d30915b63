// Operations of the authorization of agents. Their bodies and answers are those of the RFCs that
// src/oauth names.
import { type Content, tagged, text } from './operation.js';

const STRINGS = { type: 'array', items: { type: 'string' } };

const jsonObject = (properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)): Content => ({
  'application/json': { type: 'object', properties, required },
});

const METADATA = jsonObject({
  resource: { type: 'string' },
  authorization_servers: STRINGS,
  scopes_supported: STRINGS,
});
const OAUTH_ERROR = jsonObject({ error: { type: 'string' }, error_description: { type: 'string' } }, ['error']);
const HTML = text('text/html');

const AUTHORIZATION_SERVER = jsonObject({
  issuer: { type: 'string' },
  authorization_endpoint: { type: 'string' },
  token_endpoint: { type: 'string' },
  registration_endpoint: { type: 'string' },
  revocation_endpoint: { type: 'string' },
});

const CLIENT = jsonObject({ client_id: { type: 'string' }, client_name: { type: 'string' }, redirect_uris: STRINGS });

const TOKEN = jsonObject({
  access_token: { type: 'string' },
  token_type: { const: 'Bearer' },
  expires_in: { type: 'integer' },
  scope: { type: 'string' },
});

const REGISTRATION = {
  type: 'object',
  properties: { client_name: { type: 'string' }, redirect_uris: { ...STRINGS, minItems: 1, maxItems: 10 } },
  required: ['redirect_uris'],
};

const TOKEN_REQUEST = {
  type: 'object',
  properties: {
    grant_type: { const: 'authorization_code' },
    code: { type: 'string' },
    client_id: { type: 'string' },
    code_verifier: { type: 'string' },
    redirect_uri: { type: 'string' },
    resource: { type: 'string' },
  },
  required: ['grant_type', 'code', 'client_id', 'code_verifier'],
};

const REVOCATION = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] };

const DECISION = {
  type: 'object',
  properties: {
    decision: { enum: ['allow', 'deny'] },
    project: { type: 'string', format: 'uuid' },
    dashboards: { const: 'on' },
  },
  required: ['decision'],
};

/** Without agents (FEATURES_OFF). */
const OFF = { errors: [503] } as const;

const FORM = 'application/x-www-form-urlencoded';

export const OAUTH_OPERATIONS = tagged('Tokens', {
  'GET /.well-known/oauth-protected-resource': ['Who issues tokens for POST /mcp (RFC 9728)', { 200: METADATA }, OFF],
  'GET /.well-known/oauth-protected-resource/mcp': [
    'The same, where clients of /mcp look first',
    { 200: METADATA },
    OFF,
  ],
  'GET /.well-known/oauth-authorization-server': [
    'Addresses of the authorization by OAuth (RFC 8414)',
    { 200: AUTHORIZATION_SERVER },
    OFF,
  ],
  'POST /oauth/register': [
    'Registers a client (RFC 7591)',
    { 201: CLIENT, 400: OAUTH_ERROR },
    { body: REGISTRATION, errors: [429, 503] },
  ],
  'GET /oauth/authorize': [
    'Page that asks a person whether the client may use a project; redirects to the login page without a session',
    { 200: HTML, 302: {} },
    { errors: [429, 503] },
  ],
  'POST /oauth/authorize': [
    'The answer of the person (form post): a page that leads the browser to the client, with a code if allowed',
    { 200: HTML },
    { body: DECISION, bodyType: FORM },
  ],
  'POST /oauth/token': [
    'Exchanges a code for a token (aat_) of the person',
    { 200: TOKEN, 400: OAUTH_ERROR, 401: OAUTH_ERROR },
    { body: TOKEN_REQUEST, bodyType: FORM, errors: [429, 503] },
  ],
  'POST /oauth/revoke': [
    'Revokes a token that the client got (RFC 7009); answers the same when there is no such token',
    { 200: {}, 400: OAUTH_ERROR },
    { body: REVOCATION, bodyType: FORM, errors: [429, 503] },
  ],
});
