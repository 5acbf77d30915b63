// Fixture of the browser script's tests: a site of another origin than the service, in a real
// browser.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { launchBrowser } from './browser.js';
import { eventually } from './eventually.js';
import { type ScriptedServer, startScriptedServer } from './scripted-server.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from './stack.js';
import { createTestProject, type EventStore, openEventStore } from './track.js';

let databases: TestDatabases;
export let processes: ProcessGroup;
export let store: EventStore;
export let project: NewProject;
let browser: Browser;
export let context: BrowserContext;
export let page: Page;
export let site: ScriptedServer;
/** Errors that the page reports; the script must not add any. */
let complaints: string[];

/** Starts the service and a browser once, and a site and a page for each test. */
export function openPageForEachTest(launch: () => Promise<Browser> = launchBrowser): void {
  beforeAll(async () => {
    databases = await createTestDatabases();
    store = openEventStore(databases);
    processes = await startProcesses(databases.env, ['worker', 'web']);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    await processes?.stop();
    await store?.client.close();
    await databases?.close();
  });

  beforeEach(async () => {
    project = await createTestProject(databases);
    site = await startScriptedServer();
    site.pages.set('/shop', documentWith(''));
    site.pages.set('/silent', documentWith('data-auto="false"'));
    site.pages.set('/scripted', documentWith(`data-auto="false" data-host="${site.url}/"`));
    context = await browser.newContext();
    complaints = [];
    page = await openPage();
  });

  afterEach(async () => {
    await context.close();
    await site.close();
    expect(complaints).toEqual([]);
  });
}

export function documentWith(attributes: string, stub = ''): string {
  const script = `<script src="${processes.url}/public/service.js" data-key="${project.publicKey}" ${attributes}></script>`;
  return `<!doctype html><title>Shop</title><link rel="icon" href="data:,">${stub}${script}`;
}

export async function openPage(): Promise<Page> {
  const opened = await context.newPage();
  opened.on('pageerror', (error) => complaints.push(error.message));
  return opened;
}

/** The page that `call` and `storageOf` use from now on. */
export function switchTo(other: Page): void {
  page = other;
}

/** Calls a function of the script in the page. */
export const call = (name: string, ...args: unknown[]): Promise<unknown> =>
  page.evaluate(`service.${name}(...${serialize(args)})`);

const serialize = (args: readonly unknown[]): string =>
  `[${args.map((arg) => (Number.isNaN(arg) ? 'NaN' : (JSON.stringify(arg) ?? 'undefined')))}]`;

interface StoredEvent {
  readonly event_type: string;
  readonly path: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly ep_str: Readonly<Record<string, string>>;
}

/** The events of the project in the order of their times, once there are as many. */
export async function stored(count: number): Promise<StoredEvent[]> {
  return eventually(async () => {
    const rows = await store.rows<StoredEvent & { time: string }>(
      project.id,
      'event_type, path, device_id, user_id, session_id, ep_str, time',
    );
    if (rows.length < count) throw new Error(`${rows.length} of ${count} events are stored`);
    return rows.sort((a, b) => (a.time < b.time ? -1 : 1));
  }, 30_000);
}

export const posted = (count: number) =>
  eventually(() => {
    if (site.requests.length < count) throw new Error(`${site.requests.length} of ${count} requests came`);
    return site.requests;
  });

export const storageOf = () => page.evaluate<Record<string, string>>('({ ...localStorage, ...sessionStorage })');
