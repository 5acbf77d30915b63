// Page behind an invitation link. Accepting takes a button: a program that only opens links must
// not join.
import type { EndedLink, InvitationLink, OpenLink } from '../accounts/shown-invitation.js';
import { type Html, html } from './html.js';
import type { Page } from './layout.js';

export interface InvitationReader {
  /** E-mail address of the signed-in person, or another name of theirs. */
  readonly name: string;
  readonly email: string | undefined;
  readonly isVerified: boolean;
  /** Whether they are a member of the organization already. */
  readonly isMember: boolean;
}

export interface InvitationOptions {
  readonly path: string;
  readonly link: InvitationLink;
  /** The signed-in person; undefined without a session. */
  readonly reader: InvitationReader | undefined;
}

export const invitationPage = ({ path, link, reader }: InvitationOptions): Page => ({
  title: 'Invitation',
  isSignIn: true,
  ...(reader !== undefined && { person: reader.name }),
  main: html`<section class="narrow card">
${link.state === 'open' ? showOpen(link, path, reader) : link.state === 'unknown' ? UNKNOWN : showEnded(link, reader)}
</section>`,
});

const ROLES = { owner: 'an owner', admin: 'an admin', member: 'a member' } as const;

function showOpen(link: OpenLink, path: string, reader: InvitationReader | undefined): Html {
  const { organization, inviter, role, email, expiresAt } = link;
  return html`<h1>Join ${organization}</h1>
<p>${inviter} invites <strong>${email}</strong> to join <strong>${organization}</strong> as ${ROLES[role]}.
The invitation works once, until ${showDay(expiresAt)}.</p>
${reader === undefined ? signIn(path, email) : reader.email !== email ? wrongAccount(path, email, reader) : join(path, email, organization, reader)}`;
}

const signIn = (path: string, email: string): Html =>
  html`<p><a class="button wide" href="/login?next=${encodeURIComponent(path)}">Sign in as ${email}</a></p>`;

const join = (path: string, email: string, organization: string, reader: InvitationReader): Html =>
  reader.isVerified
    ? html`<p>You are signed in as ${reader.name}.</p>
<form method="post" action="${path}"><button class="wide" type="submit">Join ${organization}</button></form>`
    : html`<p>You are signed in as ${reader.name}, but your identity provider has not confirmed that this address is
yours. Confirm it there, and sign in again. Some providers confirm no address: then ask the operator of this service.</p>
${signOut(path, email)}`;

const wrongAccount = (path: string, email: string, { name }: InvitationReader): Html =>
  html`<p>You are signed in as <strong>${name}</strong>, which is another account. Sign out, and sign in as ${email}.</p>
<p>If your identity provider signs you in as ${name} again, sign out there first; or ask for an invitation for ${name}.</p>
${signOut(path, email)}`;

/** Returns to this page after the sign-in. */
function signOut(path: string, email: string): Html {
  const login = `/login?next=${encodeURIComponent(path)}`;
  return html`<form method="post" action="/auth/logout?next=${encodeURIComponent(login)}">
<button class="wide" type="submit">Sign out and sign in as ${email}</button></form>`;
}

const ENDED = {
  used: ['This invitation has been used', 'It works once, and somebody has joined with it.'],
  expired: ['This invitation has expired', 'Invitations work for seven days.'],
  withdrawn: ['This invitation does not work any more', 'Its sender may no longer invite people.'],
} as const satisfies Record<EndedLink['state'], readonly [string, string]>;

function showEnded({ state, organization }: EndedLink, reader: InvitationReader | undefined): Html {
  const [title, reason] = ENDED[state];
  if (reader?.isMember) {
    return html`<h1>You are a member of ${organization}</h1>
<p>You are signed in as ${reader.name}. This invitation is not needed any more.</p>
<p><a class="button wide" href="/">Open ${organization}</a></p>`;
  }
  return html`<h1>${title}</h1>
<p>${reason} Ask an owner of <strong>${organization}</strong> for a new one.</p>
${FRONT}`;
}

const FRONT = html`<p class="actions"><a class="button quiet" href="/">Front page</a></p>`;

const UNKNOWN = html`<h1>There is no such invitation</h1>
<p>The link is not complete, or the invitation was withdrawn or has expired. Copy the whole link from the mail, or ask
its sender for a new one.</p>
${FRONT}`;

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

const showDay = (moment: Date): string => DAY.format(moment);
