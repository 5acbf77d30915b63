// Page layout: head, header with sign-in or sign-out, main, footer.
import type { Assets } from './assets.js';
import { type Html, html } from './html.js';

export interface Page {
  readonly title: string;
  readonly main: Html;
  /** File names of scripts in public/. */
  readonly scripts?: readonly string[];
  /** Name of the signed-in person, shown in the header. */
  readonly person?: string;
  /** Where the browser goes on by itself. */
  readonly continueAt?: string;
  /** Hides the sign-in link: set on pages that are about signing in. */
  readonly isSignIn?: boolean;
}

const NAME = 'Event Analytics Service';

export function renderPage(page: Page, assets: Assets): string {
  const { title, main, scripts = [], continueAt } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === NAME ? NAME : `${title} · ${NAME}`}</title>
${continueAt === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${continueAt}">`}
<link rel="icon" href="${assets.urlOf('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.urlOf('style.css')}">
${scripts.map((name) => html`<script src="${assets.urlOf(name)}" defer></script>`)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="/"><img src="${assets.urlOf('icon.svg')}" alt="" width="28" height="28"><span>${NAME}</span></a>
<nav aria-label="Account">${wayInOrOut(page)}</nav>
</header>
<main id="main">
${main}
</main>
<footer class="foot">
<p>Apache-2.0. Your events stay on your machines.</p>
<nav aria-label="Documents"><a href="/llms.txt">Query language in brief</a></nav>
</footer>
</body>
</html>
`.text;
}

function wayInOrOut({ person, isSignIn = false }: Page): Html | undefined {
  if (person !== undefined) {
    return html`<span class="person">${person}</span>
<form method="post" action="/auth/logout"><button class="quiet" type="submit">Sign out</button></form>`;
  }
  return isSignIn ? undefined : html`<a class="button" href="/login">Sign in</a>`;
}
