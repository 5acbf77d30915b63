// Error pages for browsers. API clients get the same error as JSON.
import { html } from './html.js';
import type { Page } from './layout.js';

export const missingPage: Page = {
  title: 'Page not found',
  isSignIn: true,
  main: html`<section class="narrow card">
<h1>Page not found</h1>
<p>There is no page at this address.</p>
<p class="actions"><a class="button" href="/">Front page</a></p>
</section>`,
};

export const problemPage = (message: string): Page => ({
  title: 'That did not work',
  isSignIn: true,
  main: html`<section class="narrow card">
<h1>That did not work</h1>
<p>${message.charAt(0).toUpperCase()}${message.slice(1)}.</p>
<p class="actions"><a class="button" href="/login">Sign in</a> <a class="button quiet" href="/">Front page</a></p>
</section>`,
});
