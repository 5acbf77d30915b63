// The mail that brings an invitation.
import type { Mail } from '../mail/queue.js';

export interface InvitationMail {
  readonly email: string;
  readonly organization: string;
  readonly acceptUrl: string;
}

/** Resolves once the mail is certain to be sent, or to be tried for days. */
export type InvitationMailer = (invitation: InvitationMail) => Promise<void>;

export const toInvitationMail = ({ email, organization, acceptUrl }: InvitationMail): Mail => ({
  to: email,
  subject: `Invitation to ${organization}`,
  text: `You are invited to join ${organization} on Event Analytics Service.

Open this link and sign in with ${email}:

${acceptUrl}

The link works once, for seven days. If you did not expect it, do nothing.
`,
});
