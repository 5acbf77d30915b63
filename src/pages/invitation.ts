// Where the link of an invitation leads. It is accepted by a button: something that merely opens links must not join anything.
import { html } from './html.js';
import type { Page } from './layout.js';

export interface InvitationOptions {
  readonly path: string;
  /** The address of who is signed in; undefined when nobody is. */
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
