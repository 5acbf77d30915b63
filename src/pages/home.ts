// Front page for signed-in people: organizations, projects, the keys that their role may see, and first steps.
import type { Project } from '../accounts/projects.js';
import type { Organization } from '../accounts/store.js';
import { type Html, html } from './html.js';
import { queryCommand, trackCommand } from './landing.js';
import type { Page } from './layout.js';

export interface HomeOptions {
  readonly person: string;
  readonly organizations: readonly (Organization & { readonly projects: readonly Project[] })[];
  readonly publicUrl: URL;
}

const FIRST_QUERY = '* | last 7d | count by event_type';

export const homePage = ({ person, organizations, publicUrl }: HomeOptions): Page => ({
  title: 'Your projects',
  person,
  scripts: ['home.js'],
  main: html`<h1>Your projects</h1>
${organizations.length === 0 ? noOrganization() : undefined}
${organizations.map(
  (organization) => html`<section aria-labelledby="org-${organization.id}">
<h2 id="org-${organization.id}">${organization.name} <span class="badge">${organization.role}</span></h2>
${organization.projects.length === 0 ? html`<p>No projects yet.</p>` : undefined}
${organization.projects.map((project) => projectCard(project, publicUrl))}
</section>`,
)}`,
});

const noOrganization =
  (): Html => html`<p class="card">You belong to no organization any more. If you were invited to one, open the link
of the invitation; else sign out and in again, and one of your own is made.</p>`;

function projectCard(project: Project, publicUrl: URL): Html {
  const { id, name, public_key: publicKey } = project;
  const queryKey = project.secret_key ?? '$SECRET_KEY';
  return html`<article class="card project" aria-labelledby="project-${id}">
<h3 id="project-${id}">${name}</h3>
<dl class="keys">
<div><dt>Public key</dt><dd>${copyable(publicKey, `public key of ${name}`)}</dd></div>
${project.secret_key === undefined ? undefined : secretKey(project)}
</dl>
<form class="ask" data-project="${id}" hidden>
<label for="q-${id}">Ask</label>
<div class="ask-row"><input id="q-${id}" name="q" value="${FIRST_QUERY}" autocomplete="off" spellcheck="false"
autocapitalize="none"><button type="submit">Run</button></div>
<pre class="answer scroll" role="status" aria-label="The answer" tabindex="0" hidden></pre>
</form>
<details><summary>Send events</summary>
<p>From a web page:</p>
${snippet(`<script src="${new URL('/public/service.js', publicUrl).href}" data-key="${publicKey}" async></script>`)}
<p>From a shell:</p>
${snippet(trackCommand(publicUrl, publicKey))}
</details>
<details><summary>Ask from a program</summary>
${project.secret_key === undefined ? html`<p>With a token of your own, or a key that an admin gives you:</p>` : undefined}
${snippet(queryCommand(publicUrl, queryKey === null ? '$SECRET_KEY' : queryKey))}
</details>
</article>`;
}

const secretKey = ({ name, secret_key: key }: Project): Html =>
  html`<div><dt>Secret key</dt><dd>${
    key === null || key === undefined
      ? html`cannot be read any more: SECRET_KEY_BASE has changed. Rotating it makes a new one.`
      : html`<details class="reveal"><summary>Show</summary>${copyable(key, `secret key of ${name}`)}</details>`
  }</dd></div>`;

const copyable = (text: string, name: string): Html =>
  html`<span class="copyable"><code>${text}</code><button class="quiet copy" type="button" data-copy="${text}"
aria-label="Copy the ${name}" hidden>Copy</button></span>`;

const snippet = (
  text: string,
): Html => html`<div class="snippet"><pre class="scroll" tabindex="0"><code>${text}</code></pre><button
class="quiet copy" type="button" data-copy="${text}" aria-label="Copy this snippet" hidden>Copy</button></div>`;
