// Mail of an invitation. Owners choose the name of the organization, and the mail goes to
// strangers, so it contains the name only when mail programs cannot turn it into a link.
import type { Mail } from '../mail/queue.js';

export interface InvitationMail {
  readonly email: string;
  readonly organization: string;
  readonly acceptUrl: string;
}

/** Resolves once the mail is queued durably. */
export type InvitationMailer = (invitation: InvitationMail) => Promise<void>;

export function toInvitationMail({ email, organization, acceptUrl }: InvitationMail): Mail {
  const name = isPlainName(organization) ? organization : 'an organization';
  return {
    to: email,
    subject: `Invitation to ${name}`,
    text: `You are invited to join ${name} on Event Analytics Service.

Open this link and sign in with ${email}:

${acceptUrl}

The link works once, for seven days. If you did not expect it, do nothing.
`,
  };
}

const NAME_LENGTH_MAX = 64;
const DIGITS_MAX = 6;

/**
 * Accepts letters, digits, blanks and a few marks, and a full stop only at the end of a word. What
 * mail programs turn into links contains something else: `example.com` a dot inside a word,
 * addresses `@` or `/`, telephone numbers many digits.
 */
function isPlainName(name: string): boolean {
  const isPlain = /^[\p{L}\p{M}\p{N} .,'’&()+-]+$/u.test(name) && !/\.[^ ),.]/.test(name) && !/\.\./.test(name);
  return isPlain && name.length <= NAME_LENGTH_MAX && (name.match(/\p{N}/gu) ?? []).length <= DIGITS_MAX;
}
