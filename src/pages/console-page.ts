// Page of the console: everything on it is drawn in the browser, from the data in `boot`.
import type { Organization, Project } from '../accounts/answers.js';
import type { Assets } from './assets.js';
import type { ConsoleAssets } from './console-assets.js';
import { html } from './html.js';

export interface ConsoleData {
  readonly personId: string;
  readonly person: string;
  readonly organizations: readonly (Organization & { readonly projects: readonly Project[] })[];
  /** Ids of demo projects. */
  readonly demos: ReadonlySet<string>;
  readonly publicUrl: URL;
  /** The longest that a query waits for a place, and then runs. */
  readonly queryWithinMs: number;
  /** Whether the service has a mail server. */
  readonly hasMail: boolean;
}

export function renderConsole(data: ConsoleData, { script, styles, preloads }: ConsoleAssets, assets: Assets): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Event Analytics Service</title>
<link rel="icon" href="${assets.urlOf('icon.svg')}" type="image/svg+xml">
${styles.map((url) => html`<link rel="stylesheet" href="${url}">`)}
${preloads.map((url) => html`<link rel="modulepreload" href="${url}">`)}
<meta name="boot" content="${JSON.stringify(toBoot(data))}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The console needs JavaScript. Queries also work with curl: see <a href="/llms.txt">/llms.txt</a>.</p></noscript>
</body>
</html>
`.text;
}

/** Read by console/src/boot.ts. Without keys, which only the pages that show them ask for. */
const toBoot = ({ personId, person, organizations, demos, publicUrl, queryWithinMs, hasMail }: ConsoleData) => ({
  personId,
  person,
  publicUrl: publicUrl.href,
  queryWithinMs,
  hasMail,
  organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
  projects: organizations.flatMap((organization) =>
    organization.projects.map(({ id, name, timezone }) => ({
      id,
      name,
      timezone,
      isDemo: demos.has(id),
      organizationId: organization.id,
      organizationName: organization.name,
      role: organization.role,
    })),
  ),
});
