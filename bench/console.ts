// The console over the demo shop, in headless Chromium without a cache: time to load the demo,
// largest contentful paint and longest task of each screen, and the longest task while an answer of
// 10,000 rows scrolls.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { DemoState } from '../src/demo/answers.js';
import { atMost, type Measurement } from './measurement.js';
import type { BenchContext } from './stack.js';
import { median } from './statistics.js';

const PAINT_MS_MAX = 1000;
const TASK_MS_MAX = 100;
const DEMO_SECONDS_MAX = 20;
const DEMO_TIMEOUT_MS = 180_000;
const LOADS = 5;

const fragment = (q: string): string => `#q=${encodeURIComponent(q)}`;
const MANY_ROWS = '* | last 90d | list | limit 10000';
const SCREENS: Readonly<Record<string, string>> = {
  Ask: '/ask',
  'Ask with a chart': `/ask${fragment('purchase | last 30d | count by day, _platform')}`,
  Dashboards: '/dashboards',
  Live: '/live',
  People: '/people',
  Experiments: '/experiments',
  Experiment: '/experiments/checkout',
  Data: '/data',
  Settings: '/settings',
};

interface Vitals {
  /** Milliseconds since the navigation. */
  paint: number;
  /** Milliseconds of each task over 50 ms. */
  tasks: number[];
}

type State = Awaited<ReturnType<Awaited<ReturnType<Browser['newContext']>>['storageState']>>;

export async function benchConsole({ stack, isQuick, say, report }: BenchContext): Promise<Measurement[]> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const { state, organizationId } = await signIn(browser, stack.url);
    const demo = await loadDemo(browser, { url: stack.url, state, organizationId });
    report([{ name: 'demo loaded', value: demo.seconds, unit: 's', aim: atMost(DEMO_SECONDS_MAX) }]);
    const root = `${stack.url}/projects/${demo.projectId}`;
    for (const [screen, path] of Object.entries(SCREENS)) {
      say(`console: ${screen}`);
      const loads: Vitals[] = [];
      for (let load = 0; load < (isQuick ? 1 : LOADS); load += 1) loads.push(await visit(browser, state, root + path));
      report([
        {
          name: `${screen}: largest contentful paint, median`,
          value: median(loads.map(({ paint }) => paint)),
          unit: 'ms',
          aim: atMost(PAINT_MS_MAX),
        },
        {
          name: `${screen}: longest task, median`,
          value: median(loads.map(({ tasks }) => Math.max(0, ...tasks))),
          unit: 'ms',
        },
      ]);
    }
    const longest = await scrollManyRows(browser, state, `${root}/ask${fragment(MANY_ROWS)}`);
    return [{ name: '10,000 rows scroll: longest task', value: longest, unit: 'ms', aim: atMost(TASK_MS_MAX) }];
  } finally {
    await browser.close();
  }
}

async function signIn(browser: Browser, url: string): Promise<{ state: State; organizationId: string }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/auth/idp`);
  const submit = page.locator('button[type=submit]');
  if ((await submit.count()) > 0) await submit.first().click();
  await page.waitForURL((address) => /^\/(?:projects|start)/.test(address.pathname));
  const [organization] = (await page.evaluate(async () => (await fetch('/api/orgs')).json())) as { id: string }[];
  const state = await context.storageState();
  await context.close();
  return { state, organizationId: organization?.id ?? '' };
}

interface SignedIn {
  readonly url: string;
  readonly state: State;
  readonly organizationId: string;
}

/** From the click until queries count all events. */
async function loadDemo(browser: Browser, { url, state, organizationId }: SignedIn) {
  const context = await browser.newContext({ storageState: state });
  const page = await context.newPage();
  await page.goto(`${url}/start`);
  const startedMs = performance.now();
  const path = `/api/orgs/${organizationId}/demo`;
  const ask = async (method: string): Promise<DemoState> => {
    const answer = page.evaluate(async (of) => (await fetch(of.path, of)).json(), { path, method });
    return (await answer) as DemoState;
  };
  await ask('POST');
  for (;;) {
    const { status, project_id: projectId, error } = await ask('GET');
    const elapsedMs = performance.now() - startedMs;
    if (status === 'ready') {
      await context.close();
      return { projectId, seconds: elapsedMs / 1000 };
    }
    if (status === 'failed' || elapsedMs > DEMO_TIMEOUT_MS) throw new Error(`the demo is not loaded: ${error}`);
    await sleep(250);
  }
}

/** A new context has an empty cache. */
async function open(browser: Browser, storageState: State, address: string): Promise<Page> {
  const context = await browser.newContext({ storageState, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    // Chromium has more types of entries than Node.
    const observe = (
      type: string,
      see: (entries: readonly { startTime: number; duration: number }[]) => void,
    ): void => {
      const observer = new PerformanceObserver((list) => see(list.getEntries()));
      observer.observe({ type: type as 'mark', buffered: true });
    };
    const vitals: Vitals = { paint: 0, tasks: [] };
    Object.assign(globalThis, { vitals });
    observe('largest-contentful-paint', (entries) => {
      vitals.paint = entries.at(-1)?.startTime ?? vitals.paint;
    });
    observe('longtask', (entries) => {
      vitals.tasks.push(...entries.map(({ duration }) => duration));
    });
  });
  await page.goto(address);
  return page;
}

const readVitals = (page: Page): Promise<Vitals> =>
  page.evaluate(() => (globalThis as unknown as { vitals: Vitals }).vitals);

async function visit(browser: Browser, state: State, address: string): Promise<Vitals> {
  const page = await open(browser, state, address);
  // Event streams keep some screens from being idle.
  await sleep(3000);
  const vitals = await readVitals(page);
  await page.context().close();
  return vitals;
}

const SCROLLS = 60;

async function scrollManyRows(browser: Browser, state: State, address: string): Promise<number> {
  const page = await open(browser, state, address);
  const rows = page.getByRole('region', { name: 'Table' });
  await rows.waitFor();
  const all = page.getByRole('button', { name: 'Show all rows' });
  if ((await all.count()) > 0) await all.click();
  await page.locator('table[aria-rowcount="10001"]').waitFor();
  await sleep(1000);
  const { tasks: before } = await readVitals(page);
  await rows.hover();
  for (let scroll = 0; scroll < SCROLLS; scroll += 1) {
    await page.mouse.wheel(0, 5000);
    await sleep(30);
  }
  await sleep(500);
  const { tasks } = await readVitals(page);
  await page.context().close();
  return Math.max(0, ...tasks.slice(before.length));
}
