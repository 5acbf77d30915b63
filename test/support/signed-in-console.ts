// Fixture of browser tests of the console that need a service of their own: its processes, a browser, and pages of signed-in people.
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type ConsoleVisit, launchBrowser, visitConsole } from './console.js';
import type { CookieJar } from './cookie-jar.js';
import { type SignInStack, signedInAs, startSignInStack } from './sign-in.js';
import { createTestDatabases, type Environment, type TestDatabases } from './stack.js';

export interface SignedInConsole {
  readonly databases: TestDatabases;
  readonly postgres: Postgres;
  readonly stack: SignInStack;
  /** The person who owns an organization with one project. */
  readonly owner: CookieJar;
  readonly organizationId: string;
  readonly projectId: string;
  /** Opens a page of the owner, or of another browser. */
  visit(path: string, jar?: CookieJar): Promise<ConsoleVisit>;
  /** Closes all pages. Fails when one of them complained. */
  closePages(): Promise<void>;
  close(): Promise<void>;
}

export async function startSignedInConsole(email: string, env: Environment = {}): Promise<SignedInConsole> {
  const databases = await createTestDatabases(env);
  const postgres = createPostgres(databases.config);
  const stack = await startSignInStack(databases, { kinds: ['web', 'query', 'worker'] });
  const owner = await signedInAs(stack.url, email);
  const { organization_id: organizationId, id: projectId } = await postgres('members')
    .join('people', 'people.id', 'person_id')
    .join('projects', 'projects.organization_id', 'members.organization_id')
    .where({ email })
    .first('members.organization_id', 'projects.id');
  const browser: Browser = await launchBrowser();
  let visits: ConsoleVisit[] = [];
  return {
    ...{ databases, postgres, stack, owner, organizationId, projectId },
    visit: async (path, jar = owner) => {
      const visited = await visitConsole(browser, { url: stack.url, jar });
      visits.push(visited);
      await visited.page.goto(`${stack.url}${path}`);
      return visited;
    },
    closePages: async () => {
      const complaints = visits.flatMap((visit) => visit.complaints);
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
