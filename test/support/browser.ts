// The browser of the tests: Debian's Chromium.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
/** Chromium without windows of its own, in a Debian package of its own. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

const ARGS = ['--no-sandbox'];

/** The whole browser, which restores pages from its back-forward cache. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: ARGS,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });

/** In the shell, tests of pages take two thirds of the CPU time. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM, args: ARGS });
