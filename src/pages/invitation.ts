// Page behind an invitation link. Accepting takes a button: a program that only opens links must
// not join.
import { html } from './html.js';
import type { Page } from './layout.js';

export interface InvitationOptions {
  readonly path: string;
  /** E-mail address of the signed-in person; undefined without a session. */
  readonly person: string | undefined;
}

export const invitationPage = ({ path, person }: InvitationOptions): Page => ({
  title: 'Invitation',
  isSignIn: true,
  ...(person !== undefined && { person }),
  main: html`<section class="narrow card">
<h1>You are invited</h1>
${
  person === undefined
    ? html`<p>Sign in with the e-mail address that the invitation was sent to.</p>
<p><a class="button wide" href="/login?next=${encodeURIComponent(path)}">Sign in</a></p>`
    : html`<p>You are signed in as ${person}. Joining works once, for the address that the invitation was sent to.</p>
<form method="post" action="${path}"><button class="wide" type="submit">Join the organization</button></form>`
}
</section>`,
});
