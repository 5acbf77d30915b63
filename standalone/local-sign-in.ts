// Decides whether the local OpenID provider is used for signing in: unless the caller has
// configured a provider, runs in production, or lacks the optional package.
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/paths.js';
import { SETTINGS_OF_A_PROVIDER } from '../src/sign-in/provider.js';
import type { Environment } from './environment.js';
import { findFreePort } from './free-port.js';
import { StartProblem } from './problem.js';
import type { ProcessSpec } from './supervised-process.js';

export interface LocalSignIn {
  /** Settings that make the service use the local provider. */
  readonly env: Environment;
  readonly spec: ProcessSpec;
}

/**
 * Throws a StartProblem when a provider is configured in part: the local one would let anyone in.
 */
export async function chooseLocalSignIn(caller: Environment, publicUrl: string): Promise<LocalSignIn | undefined> {
  const given = SETTINGS_OF_A_PROVIDER.filter((name) => caller[name]);
  if (!caller.IDP_CLIENT_ID && given.length > 0) {
    throw new StartProblem(`Sign-in is configured in part: ${given.join(', ')} without IDP_CLIENT_ID.`);
  }
  if (caller.IDP_CLIENT_ID || caller.NODE_ENV === 'production' || !isInstalled()) return undefined;
  const port = await findFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  const env = {
    // A constant id, because the port differs at each start and the accounts must stay.
    IDP_ID: 'local',
    IDP_LABEL: 'the local provider',
    IDP_AUTHORIZE_URL: `${issuer}/auth`,
    IDP_TOKEN_URL: `${issuer}/token`,
    IDP_USERINFO_URL: `${issuer}/me`,
    IDP_CLIENT_ID: 'event-analytics-service',
    IDP_CLIENT_SECRET: randomBytes(32).toString('hex'),
  };
  const main = join(packageRoot, 'dist', 'processes', 'sign-in.js');
  return {
    env,
    spec: {
      name: 'sign-in',
      command: process.execPath,
      args: [main, '--port', String(port), '--callback-url', new URL('/auth/idp/cb', publicUrl).href],
      env,
      checkReady: async () => {
        const response = await fetch(`${issuer}/healthz`, { signal: AbortSignal.timeout(1000) });
        if (!response.ok) throw new Error(`the local sign-in answers ${response.status}`);
      },
      readyTimeoutMs: 60_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 5000,
      orphanSignal: 'SIGKILL',
    },
  };
}

/** An optional package; without it, signing in requires a configured provider. */
function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('oidc-provider');
    return true;
  } catch {
    return false;
  }
}
