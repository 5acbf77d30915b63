// Fixture of sign-in tests: the service with the local identity provider, and the browser's way
// through both.
import { createServer, type Server } from 'node:http';
import { createSignInProvider } from '../../standalone/sign-in-provider/provider.js';
import { CookieJar, type Visit } from './cookie-jar.js';
import { type ProcessGroup, startProcesses, type TestDatabases } from './stack.js';
import type { ProcessKind } from './stack-processes.js';
import { takePort } from './take-port.js';

export interface SignInStack {
  readonly processes: ProcessGroup;
  readonly url: string;
  stop(): Promise<void>;
}

const CLIENT = { id: 'test', secret: 'secret-of-the-test' };

export async function startSignInStack(
  databases: TestDatabases,
  options: { kinds?: readonly ProcessKind[]; env?: Readonly<Record<string, string>> } = {},
): Promise<SignInStack> {
  const port = await takePort();
  const issuer = `http://127.0.0.1:${port}`;
  const env = {
    IDP_ID: 'test',
    IDP_AUTHORIZE_URL: `${issuer}/auth`,
    IDP_TOKEN_URL: `${issuer}/token`,
    IDP_USERINFO_URL: `${issuer}/me`,
    IDP_CLIENT_ID: CLIENT.id,
    IDP_CLIENT_SECRET: CLIENT.secret,
  };
  const processes = await startProcesses({ ...databases.env, ...env, ...options.env }, options.kinds ?? ['web']);
  const client = { ...CLIENT, callbackUrl: `${processes.url}/auth/idp/cb` };
  const server = createServer(createSignInProvider({ issuer, client }));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    processes,
    url: processes.url,
    stop: async () => {
      await processes.stop();
      await close(server);
    },
  };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Signs in as `email` up to, but excluding, the callback; `tamper` may change the provider's
 * address.
 */
export async function untilCallback(
  jar: CookieJar,
  options: { url: string; email: string; next?: string; tamper?: (authorize: URL) => void },
): Promise<string> {
  const { url, email, next, tamper } = options;
  const begun = await jar.visit(`${url}/auth/idp${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`);
  const authorize = new URL(begun.location ?? '');
  tamper?.(authorize);
  const asked = await jar.follow(authorize.href, /\/auth\/idp\/cb/);
  if (asked.url.includes('/auth/idp/cb')) return asked.url;
  const answered = await jar.visit(asked.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ email }).toString(),
  });
  const { url: callback } = await jar.follow(answered.location ?? '', /\/auth\/idp\/cb/);
  return callback;
}

/** The complete sign-in; resolves with the response of the callback. */
export async function signIn(jar: CookieJar, options: { url: string; email: string; next?: string }): Promise<Visit> {
  return jar.visit(await untilCallback(jar, options));
}

/** A browser that is signed in. */
export async function signedInAs(url: string, email: string): Promise<CookieJar> {
  const jar = new CookieJar();
  await signIn(jar, { url, email });
  return jar;
}
