// Login page: one button, or the reason why sign-in is not configured.
import { type Html, html } from './html.js';
import type { Page } from './layout.js';

export interface LoginOptions {
  /** Name of the identity provider; undefined when none is configured. */
  readonly label: string | undefined;
  /** Target of the button, on the public address, because the provider redirects back to it. */
  readonly startUrl: string;
}

export const loginPage = (options: LoginOptions): Page => ({
  title: 'Sign in',
  isSignIn: true,
  scripts: ['login.js'],
  main: html`<section class="narrow card">
<h1>Sign in</h1>
${
  options.label === undefined
    ? notConfigured()
    : html`<p>No password is kept here: you sign in where you have an account already.
The first time, a project is made for you.</p>
<p><a class="button wide" href="${options.startUrl}">Sign in with ${options.label}</a></p>`
}
</section>`,
});

const notConfigured =
  (): Html => html`<p>Signing in is not possible yet: no identity provider is configured. The settings that begin
with <code>IDP_</code> name one; <code>npm start</code> brings a local one, except in production.</p>
<p>The operator signs in a first owner with <code>npm run invite -- owner@example.com</code>, which prints a link.</p>
<p>Keys work without it.</p>`;
