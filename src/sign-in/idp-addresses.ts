// Addresses that a sign-in uses: those of the settings, or of grant's table for a preset.
import type { IdentityProvider } from './provider.js';

export interface IdpAddresses {
  readonly authorize: string;
  readonly token: string;
  readonly userinfo: string;
}

export async function findIdpAddresses({ grantName, grant: settings }: IdentityProvider): Promise<IdpAddresses> {
  const { default: grant } = await import('grant');
  const { config } = grant.default.express({ config: { [grantName]: settings } });
  const { authorize_url, access_url, profile_url, subdomain } = config[grantName];
  const complete = (url: string): string => url.replace('[subdomain]', subdomain);
  return { authorize: complete(authorize_url), token: complete(access_url), userinfo: complete(profile_url) };
}
