// `npm run picture`: takes the picture of README.md from the demo of a running service:
// docs/console.png, of 200 KB at most. It needs `npm start`, `npm run demo` and Chromium (CHROMIUM
// names it), and signs in with the local provider.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { answerHelp } from './help.mjs';
import { fail } from './setup.mjs';

answerHelp('tools/picture.mjs');

const BYTES_MAX = 200_000;
const url = process.argv[2] ?? 'http://127.0.0.1:8080';
if (!/^https?:/.test(url)) fail(`"${url}" is not a web address; it begins with https:// or http://`);
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: 'light' });
  await page.goto(`${url}/auth/idp`);
  const submit = page.locator('button[type=submit]');
  if ((await submit.count()) > 0) await submit.first().click();
  await page.waitForURL((address) => address.pathname.startsWith('/projects/'));
  const boot = JSON.parse((await page.locator('meta[name=boot]').getAttribute('content')) ?? '{}');
  const demo = boot.projects?.find(({ name }) => name === 'Demo shop');
  if (demo === undefined) throw new Error('there is no project "Demo shop"; run npm run demo');
  await page.goto(`${url}/projects/${demo.id}/dashboards`);
  await page.getByRole('link', { name: /^Demo shop S/ }).click();
  await page.getByRole('img').nth(2).waitFor();
  await page.waitForLoadState('networkidle');
  const picture = await page.screenshot();
  if (picture.length > BYTES_MAX) throw new Error(`the picture has ${picture.length} bytes; ${BYTES_MAX} are allowed`);
  mkdirSync('docs', { recursive: true });
  writeFileSync(join('docs', 'console.png'), picture);
  process.stdout.write(`docs/console.png: ${picture.length} bytes\n`);
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n');
  process.stderr.write(`there is no picture: ${reason}\n`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
