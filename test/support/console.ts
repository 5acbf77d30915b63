// A signed-in browser at the console of a project: it collects what the page complains of, and what
// it sends.
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import type { CookieJar } from './cookie-jar.js';
import { eventually } from './eventually.js';

export interface ConsoleVisit {
  readonly context: BrowserContext;
  readonly page: Page;
  /**
   * Violations of the Content-Security-Policy, exceptions, and errors that are no provoked statuses
   * of requests.
   */
  readonly complaints: string[];
  readonly requests: Request[];
}

export async function visitConsole(
  browser: Browser,
  { url, jar, options = {} }: { url: string; jar?: CookieJar; options?: BrowserContextOptions },
): Promise<ConsoleVisit> {
  const context = await browser.newContext(options);
  const session = jar?.get('service_session');
  if (session !== undefined) await context.addCookies([{ name: 'service_session', value: session, url }]);
  const complaints: string[] = [];
  const requests: Request[] = [];
  const page = await context.newPage();
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) => {
    console.error('violates ' + event.violatedDirective + ': ' + event.blockedURI);
  });`);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    const isStatus = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isStatus) complaints.push(message.text());
  });
  page.on('request', (request) => requests.push(request));
  return { context, page, complaints, requests };
}

/** Texts of the queries, in the order of their requests. */
export const questionsOf = (requests: readonly Request[]): string[] =>
  requests.filter((request) => request.url().endsWith('/query')).map((request) => request.postDataJSON().q);

/**
 * Leaves the page, then closes its context. Chromium never answers when it is told to close a
 * context while a page of it navigates, for example because a test failed after a click that
 * reloads.
 */
export async function closeVisit({ context, page }: ConsoleVisit): Promise<void> {
  // The page's own navigation may interrupt this one.
  if (!page.isClosed()) await eventually(() => page.goto('about:blank'));
  await context.close();
}
