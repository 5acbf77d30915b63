// Pages in a real browser that load an npm package: `sdk` holds its exports.
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { launchBrowser } from './browser.js';
import { startScriptedServer } from './scripted-server.js';

export interface SdkPages {
  /** Address of the page. */
  readonly url: string;
  /** Opens the page in a new browser context. */
  openWith(name: string): Promise<Page>;
  /** Opens it again: what the package has stored in the browser stays. */
  visitWith(page: Page, name: string): Promise<void>;
  close(): Promise<void>;
}

export async function startSdkPages(): Promise<SdkPages> {
  const site = await startScriptedServer();
  site.pages.set('/sdk', '<!doctype html><title>Shop</title><link rel="icon" href="data:,">');
  const browser = await launchBrowser();
  const bundles = new Map<string, Promise<string>>();
  const url = `${site.url}/sdk`;

  async function visitWith(page: Page, name: string): Promise<void> {
    const bundle = bundles.get(name) ?? bundleOf(name);
    bundles.set(name, bundle);
    await page.goto(url);
    await page.addScriptTag({ content: await bundle });
  }
  return {
    url,
    visitWith,
    async openWith(name) {
      const page = await (await browser.newContext()).newPage();
      await visitWith(page, name);
      return page;
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

async function bundleOf(name: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `import * as sdk from '${name}'; globalThis.sdk = sdk`, resolveDir: process.cwd() },
    ...{ bundle: true, write: false, format: 'iife', logLevel: 'error' },
  });
  return outputFiles[0]?.text ?? '';
}
