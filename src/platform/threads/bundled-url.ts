// Where the entry of a thread is, once tools/bundle-processes.mjs has bundled it.
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageRoot } from '../paths.js';

const LINK = join(packageRoot, 'dist', 'processes');
/** Read once: a later build must not give a running process the threads of newer sources. */
const BUNDLES = existsSync(LINK) ? realpathSync(LINK) : LINK;

/**
 * The bundle of a module, which tools/bundle-processes.mjs writes; other modules are their own. Of
 * sources too, because tests run those and threads cannot load TypeScript.
 */
export function bundledUrl(url: string): string {
  const path = relative(packageRoot, fileURLToPath(url))
    .replace(/^dist[\\/]/, '')
    .replace(/\.[jt]s$/, '');
  const bundled = join(BUNDLES, `${path.replaceAll(sep, '-')}.js`);
  return existsSync(bundled) ? pathToFileURL(bundled).href : url;
}
