// Checks of servers that the service calls: that of mails and the identity provider. For `npm run
// doctor` only: a login with each view of the console could lock the account.
import type { Config } from '../platform/config.js';
import { findIdpAddresses, type IdpAddresses } from '../sign-in/idp-addresses.js';
import { type ProviderSettings, toIdentityProvider } from '../sign-in/provider.js';
import type { Check, Finding } from './checks.js';
import { reasonOf } from './find-unready.js';

const TIMEOUT_MS = 4000;
const NOT_FOUND = 404;
const SERVER_ERROR = 500;

/** Loads the libraries first, which the time limit of a check does not include. */
export async function createOutsideChecks(
  settings: ProviderSettings & Pick<Config, 'SMTP_URL'>,
): Promise<readonly Check[]> {
  if (settings.SMTP_URL !== undefined) await import('nodemailer');
  const addresses = readAddresses(settings);
  await addresses.catch(() => {});
  return [
    {
      name: 'Mail server',
      advice: 'see that it runs and that SMTP_URL is right: mails wait two days',
      run: () => examineMailServer(settings.SMTP_URL),
    },
    {
      name: 'Identity provider',
      advice: 'see that it runs and that the IDP_ settings are right: without it no one can sign in',
      run: async () => examineProvider(await addresses),
    },
  ];
}

/** Connects and logs in; no mail is sent. */
async function examineMailServer(url: string | undefined): Promise<Finding> {
  if (url === undefined) return { state: 'ok', found: 'not asked: SMTP_URL is not set' };
  const { createTransport } = await import('nodemailer');
  const limits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const transport = createTransport({ url, ...limits });
  try {
    await transport.verify();
    return { state: 'ok', found: new URL(url).username === '' ? 'answers' : 'accepts the login' };
  } finally {
    transport.close();
  }
}

async function readAddresses(settings: ProviderSettings): Promise<IdpAddresses | undefined> {
  // The address of the callback is not sent.
  const provider = toIdentityProvider(settings, 'http://localhost/');
  return provider && (await findIdpAddresses(provider));
}

async function examineProvider(addresses: IdpAddresses | undefined): Promise<Finding> {
  if (addresses === undefined) return { state: 'ok', found: 'not asked: no IDP_ setting is set' };
  const problems = await Promise.all(Object.entries(addresses).map(([name, url]) => findProblem(name, url)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) return { state: 'failed', found: found.join('; ') };
  return { state: 'ok', found: `answers at ${Object.values(addresses).join(', ')}` };
}

/** A request without parameters is refused by any status. Only the page of sign-ins must exist. */
async function findProblem(name: string, url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    const isMissing = name === 'authorize' && response.status === NOT_FOUND;
    if (response.status < SERVER_ERROR && !isMissing) return undefined;
    return `${name} at ${url} answers ${response.status}`;
  } catch (error) {
    return `${name} at ${url} cannot be reached: ${reasonOf(error)}`;
  }
}
