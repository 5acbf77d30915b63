// Where the package is: the same folder whether the code runs from the sources (tests) or from `dist`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findPackageRoot(from: string): string {
  if (existsSync(join(from, 'package-lock.json'))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error(`no package-lock.json above ${fileURLToPath(import.meta.url)}`);
  return findPackageRoot(parent);
}

export const packageRoot: string = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

/** In DATA_DIR: how to reach the stores of the standalone stack, while it runs. */
export const SERVICE_ENVIRONMENT_FILE = 'service-environment.json';
