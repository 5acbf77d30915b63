// The browser of the tests: Debian's Chromium.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
/** Chromium without windows of its own, in a Debian package of its own. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

const ARGS = ['--no-sandbox'];

/** The whole browser, for tests of what a page meets there. */
export const launchChromium = (options: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ARGS, ...options });

/** For the many tests of our own pages, which take two thirds of the CPU time in the shell. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM, args: ARGS });
