// One project of a signed-in person with a browser: the set-up of tests that look at the screens of the console.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { expect } from 'vitest';
import { createProject, type NewProject } from '../../src/accounts/store.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { type ConsoleVisit, launchBrowser, visitConsole } from './console.js';
import { eventually } from './eventually.js';
import { signedInAs, startSignInStack } from './sign-in.js';
import { createTestDatabases } from './stack.js';
import { track } from './track.js';

export interface ApiAnswer {
  readonly total: number;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly [more: string]: unknown;
}

export interface ConsoleProject {
  readonly url: string;
  readonly browser: Browser;
  readonly project: NewProject;
  /** Sends the events, and waits until the project has this many. */
  fill(events: readonly object[]): Promise<void>;
  /** The answer of the API, with its secret key. */
  ask(q: string, limit?: number): Promise<ApiAnswer>;
  /** Opens a path below that of the project. */
  visit(path: string, options?: BrowserContextOptions): Promise<ConsoleVisit>;
  /** Closes the pages of a test, and expects that none has complained. */
  endVisits(): Promise<void>;
  close(): Promise<void>;
}

export async function openConsoleProject(timezone: string): Promise<ConsoleProject> {
  const databases = await createTestDatabases();
  const postgres = createPostgres(databases.config);
  const stack = await startSignInStack(databases, { kinds: ['web', 'query', 'worker'] });
  const jar = await signedInAs(stack.url, 'console@example.com');
  const { organization_id: organizationId } = await postgres('members').first('organization_id');
  const secretKeyBase = databases.config.SECRET_KEY_BASE;
  const project = await createProject(postgres, { organizationId, name: 'Screens', timezone, secretKeyBase });
  const browser = await launchBrowser();
  const { url } = stack;
  let visits: ConsoleVisit[] = [];
  const ask = async (q: string, limit = 1000): Promise<ApiAnswer> => {
    const body = JSON.stringify({ q, timezone, format: 'json', limit });
    const response = await fetch(`${url}/query`, { method: 'POST', headers: { 'X-API-Key': project.secretKey }, body });
    return (await response.json()) as ApiAnswer;
  };
  return {
    url,
    browser,
    project,
    ask,
    fill: async (events) => {
      for (let at = 0; at < events.length; at += 2000) {
        const batch = events.slice(at, at + 2000);
        expect(await track(url, project.publicKey, { events: batch })).toMatchObject({
          body: { accepted: batch.length },
        });
      }
      await eventually(async () => expect((await ask('* | last 1y | count')).rows[0]?.count).toBe(events.length));
    },
    visit: async (path, options = {}) => {
      const visited = await visitConsole(browser, { url, jar, options });
      visits.push(visited);
      await visited.page.goto(`${url}/projects/${project.id}${path}`);
      return visited;
    },
    endVisits: async () => {
      const complaints = visits.flatMap((visited) => visited.complaints);
      await Promise.all(visits.map(({ context }) => context.close()));
      visits = [];
      expect(complaints).toEqual([]);
    },
    close: async () => {
      await browser.close();
      await stack.stop();
      await postgres.destroy();
      await databases.close();
    },
  };
}
