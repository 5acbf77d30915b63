// Root folder of the package, the same from sources (tests) and from `dist`.
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

/** File in DATA_DIR with the environment of the running standalone service. */
export const SERVICE_ENVIRONMENT_FILE = 'service-environment.json';
