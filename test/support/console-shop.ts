// Fixture of the console's tests: the service on databases of its own, a project "Shop" of a
// signed-in owner, and a browser. It registers the hooks of the file, one of which fails each test
// whose pages complained.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Role } from '../../src/access/roles.js';
import { createProject, type NewProject } from '../../src/accounts/store.js';
import type { Config } from '../../src/platform/config.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { launchBrowser } from './browser.js';
import { type ConsoleVisit, closeVisit, visitConsole } from './console.js';
import type { CookieJar } from './cookie-jar.js';
import { eventually } from './eventually.js';
import { type SignInStack, signedInAs, startSignInStack } from './sign-in.js';
import { createTestDatabases, type Environment, type ProcessGroup, type TestDatabases } from './stack.js';
import { track } from './track.js';

/** Half an hour off the full hour, so that a bucket of another zone would show. */
const TIMEZONE = 'Asia/Tehran';
/** Events of a request. */
const BATCH_MAX = 2000;

export interface ShopAnswer {
  readonly total: number;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly metadata: { readonly partial?: readonly Readonly<Record<string, unknown>>[] };
  readonly [more: string]: unknown;
}

export interface VisitOptions {
  /** The person who looks, by default the owner; `null` for one who is not signed in. */
  readonly jar?: CookieJar | null;
  /** Id of a project, by default that of the shop. */
  readonly projectId?: string;
  readonly browser?: BrowserContextOptions;
}

/** The project, and what its tests need around it. Complete once the file's hooks have run. */
export interface ConsoleShop extends NewProject {
  /** Of `web`. */
  readonly url: string;
  readonly postgres: Postgres;
  readonly config: Config;
  readonly processes: ProcessGroup;
  readonly owner: CookieJar;
  readonly organizationId: string;
  /** Signs another person in, who gets this role in the organization. */
  join(email: string, role: Role): Promise<CookieJar>;
  /** Another project of the same organization, in UTC. */
  newProject(name: string): Promise<NewProject>;
  /**
   * Sends events of the last year to the shop, and resolves when queries see as many. Not for a
   * shop that has events.
   */
  fill(events: readonly object[]): Promise<void>;
  /** The answer of the API to a query of the shop, in the shop's time zone. */
  ask(q: string): Promise<ShopAnswer>;
  /** Address of a screen (`/ask`) of the shop or of another project. */
  addressOf(path: string, projectId?: string): string;
  /** A new browser context at this screen, which is closed after the test. */
  visit(path: string, options?: VisitOptions): Promise<ConsoleVisit>;
  /** A context that the caller closes. */
  openBrowser(options?: VisitOptions): Promise<ConsoleVisit>;
}

/**
 * Call it once, outside of tests. `fill` gives the new shop its events.
 */
export function useConsoleShop(options: {
  email: string;
  fill?: (shop: ConsoleShop) => Promise<void>;
  /** Settings of the service, read when it starts. */
  env?: () => Environment;
}): ConsoleShop {
  let databases: TestDatabases;
  let stack: SignInStack;
  let browser: Browser;
  let visits: ConsoleVisit[] = [];
  const shop = {} as Writable<ConsoleShop>;

  const newProject = (name: string, timezone: string): Promise<NewProject> =>
    createProject(shop.postgres, {
      ...{ organizationId: shop.organizationId, name, timezone },
      secretKeyBase: databases.config.SECRET_KEY_BASE,
    });
  shop.newProject = (name) => newProject(name, 'UTC');

  shop.join = async (email, role) => {
    const jar = await signedInAs(shop.url, email);
    const { id } = await shop.postgres('people').where({ email }).first('id');
    await shop.postgres('members').insert({ organization_id: shop.organizationId, person_id: id, role });
    return jar;
  };

  shop.ask = async (q) => {
    const response = await fetch(`${shop.url}/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': shop.secretKey },
      body: JSON.stringify({ q, timezone: TIMEZONE, format: 'json', limit: 1000 }),
    });
    return (await response.json()) as ShopAnswer;
  };

  shop.fill = async (events) => {
    for (let at = 0; at < events.length; at += BATCH_MAX) {
      const batch = events.slice(at, at + BATCH_MAX);
      const sent = await track(shop.url, shop.publicKey, { events: batch });
      expect(sent).toMatchObject({ body: { accepted: batch.length } });
    }
    await eventually(async () => expect((await shop.ask('* | last 1y | count')).rows[0]?.count).toBe(events.length));
  };

  shop.addressOf = (path, projectId = shop.id) => `${shop.url}/projects/${projectId}${path}`;

  shop.openBrowser = ({ jar = shop.owner, browser: contextOptions = {} } = {}) =>
    visitConsole(browser, { url: shop.url, ...(jar !== null && { jar }), options: contextOptions });

  shop.visit = async (path, visitOptions = {}) => {
    const visited = await shop.openBrowser(visitOptions);
    visits.push(visited);
    await visited.page.goto(shop.addressOf(path, visitOptions.projectId));
    return visited;
  };

  beforeAll(async () => {
    databases = await createTestDatabases(options.env?.());
    shop.config = databases.config;
    shop.postgres = createPostgres(databases.config);
    stack = await startSignInStack(databases, { kinds: ['web', 'query', 'worker'] });
    shop.url = stack.url;
    shop.processes = stack.processes;
    shop.owner = await signedInAs(stack.url, options.email);
    const { email } = options;
    const membership = shop.postgres('members').join('people', 'people.id', 'person_id').where({ email });
    shop.organizationId = (await membership.first('organization_id')).organization_id;
    Object.assign(shop, await newProject('Shop', TIMEZONE));
    await options.fill?.(shop);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await shop.postgres?.destroy();
    await databases?.close();
  });

  afterEach(async () => {
    const finished = visits;
    visits = [];
    await Promise.all(finished.map(closeVisit));
    expect(finished.flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  return shop;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
