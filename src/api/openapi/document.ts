// Assembles the OpenAPI 3.1 document: paths and credentials from the route matrix, bodies and
// responses from schemas.
import { ROUTES, type RouteName, type RouteRule } from '../../access/route-matrix.js';
import { type PublicErrorKind, STATUS_OF_KIND } from '../../platform/errors.js';
import { type Operation, TAGS } from './operation.js';
import { toOperationId } from './operation-ids.js';
import { OPERATIONS } from './operations.js';
import { refTo, toJsonSchemas, toParameters } from './schemas.js';

export type OpenApiDocument = Readonly<Record<string, unknown>>;

export const toOpenApiDocument = (): OpenApiDocument => ({
  openapi: '3.1.0',
  info: {
    title: 'Event Analytics Service',
    version: '0.1.0',
    description:
      'Ingests events over HTTP and answers queries in a pipe-style query language. For language models: /llms.txt. ' +
      'A path that has other methods answers 405, with them in Allow.',
    contact: { name: 'The operator of this service' },
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  paths: toPaths(),
  components: {
    schemas: toJsonSchemas(),
    responses: Object.fromEntries(SHARED_KINDS.map((kind) => [kind, toErrorResponse(kind)])),
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'pk_, sk_, ak_ or aat_' },
      token: { type: 'http', scheme: 'bearer', description: 'an aat_ token, for POST /mcp' },
      publicKey: { type: 'apiKey', in: 'query', name: 'key', description: 'a public key (pk_) only' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'service_session',
        description: 'set by signing in; under https its name is __Host-service_session',
      },
    },
  },
});

/** Without the paths of other SDKs that are equal but for a slash at their end. */
const DOCUMENTED: readonly RouteRule[] = ROUTES.filter(
  ({ path }) => path === '/' || !path.endsWith('/') || ROUTES.every((other) => `${other.path}/` !== path),
);

function toPaths(): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const rule of DOCUMENTED) {
    const operation = OPERATIONS[`${rule.method} ${rule.path}` as RouteName];
    paths[rule.path] = { ...paths[rule.path], [rule.method.toLowerCase()]: toOperation(rule, operation) };
  }
  return paths;
}

function toOperation(rule: RouteRule, operation: Operation): Record<string, unknown> {
  const parameters = [...toPathParameters(rule.path), ...toQueryParameters(operation)];
  return {
    operationId: toOperationId(rule),
    tags: [operation.tag],
    summary: operation.summary,
    description: describeCaller(rule),
    security: toSecurity(rule),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== undefined && {
      requestBody: {
        required: true,
        content: { [operation.bodyType ?? 'application/json']: { schema: operation.body } },
      },
    }),
    responses: toResponses(rule, operation),
  };
}

function describeCaller({ auth, role }: RouteRule): string {
  if (auth === 'public') return 'Needs no credential of the service in a header.';
  if (auth === 'session')
    return role === undefined ? 'For people who are signed in.' : `Takes the role ${role} at least.`;
  if (auth === 'agent') return 'Takes a token (aat_) with the scope query or dashboards.';
  if (typeof auth === 'string') return "Takes an organization's admin key (ak_).";
  const keys = auth.scope === 'track' ? 'a public key (pk_), a secret key (sk_)' : 'a secret key (sk_)';
  return `Takes ${keys}, or a token (aat_) with the scope ${auth.scope}.`;
}

function toSecurity({ auth }: RouteRule): Record<string, string[]>[] {
  if (auth === 'public') return [];
  if (auth === 'session') return [{ session: [] }];
  if (auth === 'agent') return [{ key: [] }, { token: [] }];
  const isTrack = typeof auth === 'object' && auth.scope === 'track';
  return isTrack ? [{ key: [] }, { publicKey: [] }] : [{ key: [] }];
}

const toPathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

const toQueryParameters = ({ query }: Operation) =>
  query === undefined ? [] : toParameters(query).map(({ name, ...rest }) => ({ name, in: 'query', ...rest }));

const ERROR_KINDS = Object.keys(STATUS_OF_KIND) as PublicErrorKind[];
/** No operation answers 405: that is for methods without one. */
const SHARED_KINDS = ERROR_KINDS.filter((kind) => kind !== 'method_not_allowed');

const MEANINGS = {
  bad_request: 'The request is wrong; the message says what, and `details` each mistake of a query or a dashboard',
  unauthenticated: 'No valid credential',
  forbidden: 'The scope or the role is not enough, or a limit is reached',
  not_found: 'It does not exist, or is not for the caller',
  method_not_allowed: 'The path has other methods, which `Allow` lists',
  too_large: 'The body is too large',
  rate_limited: 'Too many requests, or too much is waiting',
  unavailable: 'Switched off, or not possible right now',
  timed_out: 'The query took too long',
} as const satisfies Record<PublicErrorKind, string>;

function toErrorResponse(kind: PublicErrorKind) {
  const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer' } };
  return {
    description: MEANINGS[kind],
    ...(kind === 'rate_limited' && { headers: { 'Retry-After': retryAfter } }),
    ...(kind === 'unauthenticated' && toChallenge('How to authenticate')),
    content: { 'application/json': { schema: refTo('Error') } },
  };
}

function toResponses(rule: RouteRule, operation: Operation): Record<string, unknown> {
  const answers = Object.entries(operation.answers).map(([status, content]) => [status, toAnswer(status, content)]);
  const errors = errorStatusesOf(rule, operation).map((status) => {
    const kind = kindOf(status);
    const isChallenge = rule.auth === 'agent' && kind === 'unauthenticated';
    return [String(status), isChallenge ? toAgentChallenge() : toError(operation, kind)];
  });
  // A route that only redirects: clients follow it, and every other status is an error.
  const isRedirect = !Object.keys(operation.answers).some((status) => status.startsWith('2'));
  const others = isRedirect ? [['default', toError(operation, 'bad_request')]] : [];
  return Object.fromEntries([...errors, ...answers, ...others]);
}

function kindOf(status: number): PublicErrorKind {
  const kind = ERROR_KINDS.find((each) => STATUS_OF_KIND[each] === status);
  if (kind === undefined) throw new Error(`no kind of error has the status ${status}`);
  return kind;
}

/** Agents find the authorization by OAuth in the header. */
const toAgentChallenge = () => ({
  ...toErrorResponse('unauthenticated'),
  ...toChallenge('Where tokens are issued (RFC 9728)'),
});

const toChallenge = (description: string) => ({
  headers: { 'WWW-Authenticate': { description, schema: { type: 'string' } } },
});

/** Routes of pages answer errors as HTML to browsers. */
function toError({ tag, answers }: Operation, kind: PublicErrorKind): Record<string, unknown> {
  const isPage = tag === 'Pages' || Object.values(answers).some((content) => 'text/html' in content);
  if (!isPage) return { $ref: `#/components/responses/${kind}` };
  const response = toErrorResponse(kind);
  return { ...response, content: { ...response.content, 'text/html': { schema: { type: 'string' } } } };
}

function toAnswer(status: string, content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const types = Object.entries(content).map(([type, schema]) => [type, { schema }]);
  return {
    description: DESCRIPTIONS[status] ?? 'Done',
    ...(types.length > 0 && { content: Object.fromEntries(types) }),
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  201: 'Created',
  202: 'Under way',
  302: 'Redirect',
  303: 'Redirect',
  304: 'Not modified',
};

function errorStatusesOf({ auth, path }: RouteRule, { body, errors = [] }: Operation): number[] {
  const statuses = new Set([
    ...errors,
    ...(auth === 'public' ? [] : [401, 403, 429, 503]),
    ...(body === undefined ? [] : [400, 413]),
    // At least a malformed request target, or a parameter whose percent-encoding is malformed.
    ...(auth === 'public' || path.includes('{') ? [400] : []),
    ...(path.includes('{') ? [404] : []),
  ]);
  return [...statuses].sort((a, b) => a - b);
}
