// Settings of the identity provider. Pure. Addresses of common providers come from grant's table;
// this file adds what the table lacks.
import type { GrantProvider } from 'grant';
import type { Config } from '../platform/config.js';
import { ConfigProblem } from '../platform/config-problem.js';

export interface IdentityProvider {
  /** Identifies an account together with the subject, so it must stay stable when URLs change. */
  readonly id: string;
  /** Display name: "Sign in with …". */
  readonly label: string;
  /** Name in grant's table; `idp` for others. */
  readonly grantName: string;
  readonly grant: GrantProvider;
  readonly isOpenId: boolean;
  /** URL of verified addresses, for providers such as GitHub whose profile has none. */
  readonly emailsUrl?: string;
  /** Treat addresses as verified although the provider does not state it. */
  readonly trustsEmail: boolean;
}

export type ProviderSettings = Pick<
  Config,
  | 'IDP_PRESET'
  | 'IDP_SUBDOMAIN'
  | 'IDP_AUTHORIZE_URL'
  | 'IDP_TOKEN_URL'
  | 'IDP_USERINFO_URL'
  | 'IDP_CLIENT_ID'
  | 'IDP_CLIENT_SECRET'
  | 'IDP_SCOPE'
  | 'IDP_TOKEN_AUTH'
  | 'IDP_ID'
  | 'IDP_LABEL'
  | 'IDP_TRUST_EMAIL'
>;

interface Preset {
  readonly label: string;
  readonly scope?: string;
  readonly needsSubdomain?: true;
  readonly userinfoUrl?: string;
  readonly emailsUrl?: string;
}

const PRESETS: Readonly<Record<NonNullable<Config['IDP_PRESET']>, Preset>> = {
  google: { label: 'Google' },
  microsoft: { label: 'Microsoft' },
  // GitLab's OpenID endpoint; grant's table has a removed API.
  gitlab: { label: 'GitLab', userinfoUrl: 'https://gitlab.com/oauth/userinfo' },
  github: { label: 'GitHub', scope: 'read:user user:email', emailsUrl: 'https://api.github.com/user/emails' },
  okta: { label: 'Okta', needsSubdomain: true },
  auth0: { label: 'Auth0', needsSubdomain: true },
  keycloak: { label: 'Keycloak', needsSubdomain: true },
  cognito: { label: 'Cognito', needsSubdomain: true },
};

const OPENID_SCOPE = 'openid email profile';

/** With one of these, sign-in is meant to be configured. */
export const SETTINGS_OF_A_PROVIDER = [
  'IDP_PRESET',
  'IDP_SUBDOMAIN',
  'IDP_AUTHORIZE_URL',
  'IDP_TOKEN_URL',
  'IDP_USERINFO_URL',
  'IDP_CLIENT_ID',
  'IDP_CLIENT_SECRET',
] as const;

/** Undefined when not configured. Throws a ConfigProblem that names missing settings. */
export function toIdentityProvider(settings: ProviderSettings, callbackUrl: string): IdentityProvider | undefined {
  const { IDP_PRESET: presetName, IDP_CLIENT_ID: clientId, IDP_AUTHORIZE_URL: authorizeUrl } = settings;
  if (SETTINGS_OF_A_PROVIDER.every((name) => settings[name] === undefined)) return undefined;
  const preset = presetName === undefined ? undefined : PRESETS[presetName];
  requireSettings(settings, [
    'IDP_CLIENT_ID',
    'IDP_CLIENT_SECRET',
    ...(preset === undefined ? (['IDP_AUTHORIZE_URL', 'IDP_TOKEN_URL', 'IDP_USERINFO_URL'] as const) : []),
    ...(preset?.needsSubdomain ? (['IDP_SUBDOMAIN'] as const) : []),
  ]);
  const scope = settings.IDP_SCOPE ?? preset?.scope ?? OPENID_SCOPE;
  const isOpenId = scope.split(' ').includes('openid');
  // Grant appends its parameters behind a question mark of its own.
  const [authorizePath, ownParameters] = authorizeUrl?.split('?', 2) ?? [];
  return {
    id: settings.IDP_ID ?? ([presetName, settings.IDP_SUBDOMAIN].filter(Boolean).join(':') || String(authorizeUrl)),
    label: settings.IDP_LABEL ?? preset?.label ?? 'your organization',
    grantName: presetName ?? 'idp',
    isOpenId,
    ...(preset?.emailsUrl !== undefined && { emailsUrl: preset.emailsUrl }),
    trustsEmail: settings.IDP_TRUST_EMAIL,
    grant: defined({
      oauth: 2,
      key: clientId,
      secret: settings.IDP_CLIENT_SECRET,
      authorize_url: authorizePath,
      custom_params: ownParameters && Object.fromEntries(new URLSearchParams(ownParameters)),
      access_url: settings.IDP_TOKEN_URL,
      profile_url: settings.IDP_USERINFO_URL ?? preset?.userinfoUrl,
      subdomain: settings.IDP_SUBDOMAIN,
      token_endpoint_auth_method: settings.IDP_TOKEN_AUTH,
      scope,
      redirect_uri: callbackUrl,
      state: true,
      nonce: isOpenId,
      pkce: true,
      transport: 'state',
      response: ['tokens', 'jwt', 'profile'],
    }),
  };
}

function requireSettings(settings: ProviderSettings, names: readonly (keyof ProviderSettings)[]): void {
  const missing = names.filter((name) => settings[name] === undefined);
  if (missing.length === 0) return;
  throw new ConfigProblem(`sign-in is configured in part; ${missing.join(', ')} must be set as well`);
}

/**
 * In grant, a present key overrides its table even when undefined, so undefined keys are removed.
 */
const defined = (provider: Record<string, unknown>): GrantProvider =>
  Object.fromEntries(Object.entries(provider).filter(([, value]) => value !== undefined));
