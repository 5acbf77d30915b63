// OpenID provider of the standalone stack. It accepts any e-mail address without a proof, so it
// listens on loopback only, checks the Host header, and never runs in production.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import express, { type Express, type RequestHandler } from 'express';
import Provider, { type Configuration } from 'oidc-provider';
import { createExpressApp } from '../../src/platform/http/router.js';
import { lowerAscii } from '../../src/platform/lower-ascii.js';
import { MemoryAdapter } from './memory-adapter.js';
import { signInPage } from './sign-in-page.js';

export interface ProviderOptions {
  /** Its address: `http://127.0.0.1:PORT`. */
  readonly issuer: string;
  /** The service, its only client. */
  readonly client: { readonly id: string; readonly secret: string; readonly callbackUrl: string };
}

export function createSignInProvider(options: ProviderOptions): Express {
  const provider = new Provider(options.issuer, toConfiguration(options));
  const app = createExpressApp();
  app.use((req, res, next) => {
    // Prevents DNS rebinding: a web page whose host name resolves to this address could sign in as
    // the developer.
    if (req.headers.host === new URL(options.issuer).host) next();
    else res.status(403).type('text').send('not the name of this server');
  });
  app.get('/healthz', (_req, res) => void res.type('text').send('ok'));
  app.get('/interaction/:uid', async (req, res) => {
    await provider.interactionDetails(req, res);
    res.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    res.set('Cache-Control', 'no-store').type('html').send(signInPage());
  });
  app.post('/interaction/:uid', express.urlencoded({ extended: false }), async (req, res) => {
    const email = String(req.body?.email ?? '').trim();
    // ASCII only: a sign-in with U+212A for k must not become the account of another address.
    await provider.interactionFinished(req, res, { login: { accountId: lowerAscii(email), remember: false } });
  });
  app.use('/auth', forgetSession);
  app.use(provider.callback());
  return app;
}

function toConfiguration({ client }: ProviderOptions): Configuration {
  return {
    adapter: MemoryAdapter,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.callbackUrl],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    // No signature is verified after a restart, so the keys are generated at each start.
    jwks: { keys: [{ ...newSigningKey(), use: 'sig', alg: 'ES256' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: true, name: id.split('@')[0] }),
    }),
    ttl: {
      AccessToken: LIFETIME_SECONDS,
      AuthorizationCode: 60,
      Grant: LIFETIME_SECONDS,
      IdToken: LIFETIME_SECONDS,
      Interaction: LIFETIME_SECONDS,
      Session: LIFETIME_SECONDS,
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    // Grants every scope without a consent page: the service requests only the identity.
    loadExistingGrant: async (context) => {
      const { client: asking, session, params } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        ...(asking && { clientId: asking.clientId }),
        ...(session?.accountId !== undefined && { accountId: session.accountId }),
      });
      grant.addOIDCScope(String(params?.scope ?? 'openid'));
      await grant.save();
      return grant;
    },
  };
}

const LIFETIME_SECONDS = 600;

/**
 * Asks for the e-mail address each time, so that a developer can sign in as different people to try
 * out teams.
 */
const forgetSession: RequestHandler = (req, _res, next) => {
  const kept = req.headers.cookie?.split('; ').filter((cookie) => !cookie.startsWith('_session'));
  if (kept !== undefined) req.headers.cookie = kept.join('; ');
  next();
};

const newSigningKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
