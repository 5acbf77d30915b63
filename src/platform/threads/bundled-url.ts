// Where the entry of a thread is, once tools/bundle-processes.mjs has bundled it.
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageRoot } from '../paths.js';

const DIST = join(packageRoot, 'dist');

/**
 * The bundle of a module, which tools/bundle-processes.mjs writes; other modules are their own. Of
 * sources too, because tests run those and threads cannot load TypeScript.
 */
export function bundledUrl(url: string): string {
  const path = relative(packageRoot, fileURLToPath(url))
    .replace(/^dist[\\/]/, '')
    .replace(/\.[jt]s$/, '');
  const bundled = join(DIST, 'processes', `${path.replaceAll(sep, '-')}.js`);
  return existsSync(bundled) ? pathToFileURL(bundled).href : url;
}
