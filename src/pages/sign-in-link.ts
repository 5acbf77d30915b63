// Page behind a one-time link for signing in. It takes a button: a program that only opens links
// must not use it up.
import { html } from './html.js';
import type { Page } from './layout.js';

export const signInLinkPage = ({ path, email }: { readonly path: string; readonly email: string }): Page => ({
  title: 'Sign in',
  isSignIn: true,
  main: html`<section class="narrow card">
<h1>Sign in</h1>
<p>This link signs you in as ${email}, once.</p>
<form method="post" action="${path}"><button class="wide" type="submit">Sign in</button></form>
</section>`,
});
