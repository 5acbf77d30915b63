// Targets of alerts and reports: webhooks (`https://…`) and mailboxes (`mailto:…`). Checks the form
// only; addresses.ts checks what a host name resolves to, when a webhook is called.
import { tryCanonicalEmail } from '../accounts/addresses.js';

export type Target =
  | { readonly kind: 'webhook'; readonly url: URL }
  | { readonly kind: 'mail'; readonly address: string };

const LENGTH_MAX = 2048;
/** Below are the ports of system services, such as 22 and 25. */
const PORT_MIN = 1024;

/** The target, or what is wrong with the text: `is …`, `has …`. */
export function parseTarget(text: string): Target | { readonly problem: string } {
  if (text.length > LENGTH_MAX) return { problem: `is longer than ${LENGTH_MAX} characters` };
  if (/^mailto:/i.test(text)) {
    const address = tryCanonicalEmail(text.slice('mailto:'.length));
    return address === undefined ? { problem: 'is mailto: and one e-mail address' } : { kind: 'mail', address };
  }
  if (!/^https?:\/\//i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text)) {
    return { problem: 'is an address such as https://example.com/hook or mailto:ann@example.com' };
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { problem: 'has no user name and no password' };
  if (url.port !== '' && Number(url.port) < PORT_MIN) return { problem: `has no port below ${PORT_MIN}` };
  return { kind: 'webhook', url };
}

/** The same text for the same mailbox or webhook, so that it is told once. */
export function canonicalTarget(text: string): string {
  const target = parseTarget(text);
  if ('problem' in target) return text;
  return target.kind === 'mail' ? `mailto:${target.address}` : target.url.href;
}

/** Without the path, which is a secret of many services. */
export function shownTarget(text: string): string {
  const target = parseTarget(text);
  if ('problem' in target) return '(invalid)';
  return target.kind === 'mail' ? `mailto:${target.address}` : target.url.origin;
}
