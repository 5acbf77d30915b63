// Name and version of imports, and the `library` of their events.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../platform/paths.js';

/** Such as `service-import/0.1.0`. */
export function importerName(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '0';
  return `service-import/${String(version)}`;
}

/** `library` of the events of a source. */
export const libraryOf = (source: string): string => `${importerName()} ${source}`;
