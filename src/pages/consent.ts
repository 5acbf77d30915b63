// Pages of the authorization of an agent: what the client asks for, and what the person has
// answered. Nothing that a client says of itself is verified, so the page names the host that gets
// the token.
import type { AuthorizationRequest } from '../oauth/authorization-request.js';
import { hostOf, isOnOwnMachine } from '../oauth/clients.js';
import type { ConnectableProject } from '../oauth/projects.js';
import { type Html, html } from './html.js';
import type { Page } from './layout.js';

export interface ConsentOptions {
  /** Path and query of this page. */
  readonly path: string;
  readonly request: AuthorizationRequest;
  readonly projects: readonly ConnectableProject[];
  /** Name of the signed-in person. */
  readonly person: string;
}

export const consentPage = ({ path, request, projects, person }: ConsentOptions): Page => ({
  title: `Connect ${request.client.name}`,
  person,
  main: html`<section class="narrow card">
<h1>Connect ${request.client.name}</h1>
${projects.length === 0 ? NO_PROJECT : askFor(path, request, projects)}
</section>`,
});

const NO_PROJECT = html`<p>You are in no project yet. Make one first, and connect the application again.</p>
<p><a class="button wide" href="/">Open the console</a></p>`;

const askFor = (path: string, request: AuthorizationRequest, projects: readonly ConnectableProject[]): Html =>
  html`<p>An application that calls itself <strong>${request.client.name}</strong> asks to read a project in your name.
${receiverOf(request)}</p>
<form method="post" action="${path}" class="consent">
<label>Project
<select class="field" name="project" required>
${projects.map(({ id, name, organization }) => html`<option value="${id}">${organization} › ${name}</option>`)}
</select></label>
<fieldset>
<legend>It may</legend>
<label><input type="checkbox" checked disabled> ask queries, without lists of people</label>
${
  request.scopes.includes('dashboards')
    ? html`<label><input type="checkbox" name="dashboards"> read, create and change dashboards</label>`
    : undefined
}
</fieldset>
<p class="muted">It gets a token in your name for 90 days. You can revoke it earlier in the settings of the project, under Tokens.</p>
<div class="actions">
<button type="submit" name="decision" value="allow">Connect</button>
<button type="submit" name="decision" value="deny" class="quiet">Cancel</button>
</div>
</form>`;

const receiverOf = ({ redirectUri }: AuthorizationRequest): Html =>
  isOnOwnMachine(redirectUri)
    ? html`The access goes to <strong>a program on this machine</strong> (${hostOf(redirectUri)}).`
    : html`The access goes to <strong>${hostOf(redirectUri)}</strong>. Continue only if you came from there.`;

export interface AnsweredOptions {
  readonly request: AuthorizationRequest;
  readonly isAllowed: boolean;
  /** Address of the client. */
  readonly continueAt: string;
  readonly person: string;
}

/**
 * Leads the browser to the client. A page, not a redirect: the Content-Security-Policy holds for
 * redirects of forms, and an application on the machine leaves the page open.
 */
export const answeredPage = ({ request, isAllowed, continueAt, person }: AnsweredOptions): Page => {
  const { name } = request.client;
  const title = isAllowed ? `${name} is being connected` : `${name} is not connected`;
  return {
    title,
    person,
    continueAt,
    main: html`<section class="narrow card">
<h1>${title}</h1>
<p>${isAllowed ? `${name} now fetches its token.` : 'Nothing was allowed.'} If the browser does not go on by itself:</p>
<p><a class="button wide" href="${continueAt}">Continue to ${name}</a></p>
<p class="muted">This page can be closed afterwards.</p>
</section>`,
  };
};
