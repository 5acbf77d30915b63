// Authorization of agents by OAuth 2.1, as the Model Context Protocol asks for: a client finds the
// addresses, registers itself, sends the person to GET /oauth/authorize, and exchanges the code for
// a token. The token is a personal one (aat_), as those made in Settings, and is revoked there, or
// by the client (POST /oauth/revoke).
import express, { type ErrorRequestHandler, type RequestHandler, type Response, type Router } from 'express';
import { answerTokenPreflight } from '../access/agent-origins.js';
import { REALM } from '../access/challenge.js';
import { limitByAddress } from '../access/limit-by-address.js';
import type { RateLimit } from '../access/rate-limits.js';
import {
  countRequest,
  findPerson,
  nameOf,
  type Person,
  personOf,
  requireSession,
  type SessionGuards,
} from '../access/session-middleware.js';
import type { Quotas } from '../accounts/quotas.js';
import type { TokenRequest } from '../accounts/schema.js';
import { checkToken, createToken, revokePresentedToken } from '../accounts/tokens.js';
import type { Assets } from '../pages/assets.js';
import { answeredPage, consentPage } from '../pages/consent.js';
import { renderPage } from '../pages/layout.js';
import { PublicError } from '../platform/errors.js';
import { allowAnyOrigin } from '../platform/http/cross-origin.js';
import { readJsonBody } from '../platform/http/json-body.js';
import { createRouter } from '../platform/http/router.js';
import { isUuid, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { AGENT_SCOPES, describeAuthorizationServer, describeResource, resourceOf } from './addresses.js';
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.js';
import { type Client, createClients } from './clients.js';
import { exchangeCode } from './code-exchange.js';
import { createCode, type Grant } from './codes.js';
import { OAuthError } from './errors.js';
import { listConnectable } from './projects.js';

export interface OAuthDeps {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly sessions: SessionGuards;
  readonly secretKeyBase: string;
  /** By client address. */
  readonly rateLimit: RateLimit;
  readonly quotas: Quotas;
  readonly assets: Assets;
}

const FORM_BYTES_MAX = 16 * 1024;
const TOKEN_LIFETIME_DAYS = 90;

const readForm = express.urlencoded({ extended: false, limit: FORM_BYTES_MAX });

export function createOAuthRouter(deps: OAuthDeps): Router {
  const { postgres, redis, sessions, quotas } = deps;
  const { publicUrl } = sessions;
  const resource = resourceOf(publicUrl);
  const clients = createClients(deps.secretKeyBase);
  const limitRate = limitByAddress(deps.rateLimit);
  const router = createRouter();

  const resourceMetadata: RequestHandler = (_req, res) => {
    res.json(describeResource(publicUrl));
  };
  router.get('/.well-known/oauth-protected-resource', allowScripts, resourceMetadata);
  router.get('/.well-known/oauth-protected-resource/mcp', allowScripts, resourceMetadata);
  router.get('/.well-known/oauth-authorization-server', allowScripts, (_req, res) => {
    res.json(describeAuthorizationServer(publicUrl));
  });
  router.options(['/.well-known/*path', '/oauth/register', '/oauth/token', '/oauth/revoke'], answerTokenPreflight);

  router.post('/oauth/register', allowScripts, limitRate, readJsonBody, (req, res) => {
    res.status(201).json(describeClient(clients.register(req.body)));
  });

  router.get('/oauth/authorize', async (req, res) => {
    const request = readAuthorizationRequest(req.query, { clients, resource });
    const session = await findPerson(postgres, { req, res, publicUrl });
    if (session === undefined) {
      res.redirect(`/login?next=${encodeURIComponent(req.originalUrl)}`);
      return;
    }
    await countRequest(req, session, sessions);
    const projects = await listConnectable(postgres, session.personId);
    showPage(res, consentPage({ path: req.originalUrl, request, projects, person: nameOf(session) }), deps.assets);
  });

  router.post(
    '/oauth/authorize',
    ...requireSession(postgres, sessions),
    readForm,
    async (req: express.Request, res: Response) => {
      const request = readAuthorizationRequest(req.query, { clients, resource });
      const form: Readonly<Record<string, unknown>> = req.body ?? {};
      const isAllowed = form.decision === 'allow';
      const answer = isAllowed
        ? { code: await createCode(redis, await toGrant(form, request, personOf(res))) }
        : { error: 'access_denied' };
      const continueAt = callbackOf(request, { ...answer, iss: publicUrl.origin });
      showPage(res, answeredPage({ request, isAllowed, continueAt, person: nameOf(personOf(res)) }), deps.assets);
    },
  );

  router.post('/oauth/token', allowScripts, limitRate, readForm, async (req, res) => {
    const { client, grant } = await exchangeCode(redis, req.body ?? {}, { clients, resource });
    const { personId, projectId } = grant;
    const request = toTokenRequest(client, grant);
    const created = await createToken(postgres, projectId, { personId, request, quotas }).catch((error: unknown) => {
      throw error instanceof PublicError ? new OAuthError('invalid_grant', error.message) : error;
    });
    res.json({
      access_token: created.token,
      token_type: 'Bearer',
      expires_in: Math.floor((created.expires_at.getTime() - created.created_at.getTime()) / 1000),
      scope: created.scopes.join(' '),
    });
  });

  // RFC 7009: a token that is unknown or has ended gets the same answer.
  router.post('/oauth/revoke', allowScripts, limitRate, readForm, async (req, res) => {
    const { token } = (req.body ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof token !== 'string' || token === '') throw new OAuthError('invalid_request', 'token is required');
    await revokePresentedToken(postgres, token);
    res.status(200).end();
  });
  router.use(answerOAuthErrors);
  return router;

  /** Refuses what the exchange of the code would refuse, while the person can read why. */
  async function toGrant(
    form: Readonly<Record<string, unknown>>,
    request: AuthorizationRequest,
    { personId }: Person,
  ): Promise<Grant> {
    const id = form.project;
    if (typeof id !== 'string' || !isUuid(id)) throw new PublicError('bad_request', 'choose a project');
    const grant: Grant = {
      clientId: request.client.id,
      redirectUri: request.redirectUri,
      challenge: request.challenge,
      personId,
      projectId: toProjectId(id),
      scopes: request.scopes.filter((scope) => scope === 'query' || form[scope] === 'on'),
    };
    await checkToken(postgres, grant.projectId, { personId, request: toTokenRequest(request.client, grant), quotas });
    return grant;
  }
}

const toTokenRequest = ({ name }: Client, { scopes }: Grant): TokenRequest => ({
  name,
  kind: 'personal',
  scopes: [...scopes],
  expires_in: `${TOKEN_LIFETIME_DAYS}d`,
});

/** RFC 7591, 3.2.1. */
const describeClient = ({ id, name, redirectUris }: Client) => ({
  client_id: id,
  client_name: name,
  redirect_uris: redirectUris,
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: AGENT_SCOPES.join(' '),
});

function callbackOf({ redirectUri, state }: AuthorizationRequest, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== undefined) url.searchParams.set('state', state);
  return url.href;
}

/** Clients may be scripts of a page. No cookie is read. */
const allowScripts: RequestHandler = (_req, res, next) => {
  allowAnyOrigin(res);
  next();
};

const answerOAuthErrors: ErrorRequestHandler = (error, req, res, next) => {
  if (!(error instanceof OAuthError)) return next(error);
  // Required when the client has sent the header, with its scheme (RFC 6749, 5.2).
  const [scheme] = /^[\w-]+/.exec(req.headers.authorization ?? '') ?? [];
  if (error.status === 401 && scheme !== undefined) res.setHeader('WWW-Authenticate', `${scheme} ${REALM}`);
  res.status(error.status).json({ error: error.code, error_description: error.message });
};

function showPage(res: Response, page: Parameters<typeof renderPage>[0], assets: Assets): void {
  res.type('html').send(renderPage(page, assets));
}
