// Manifest of a backup of a running service: the point in time, the versions of both schemas, and
// what the archive has to contain.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { formatCount } from '../../src/platform/progress.js';
import { LOCK_FILE } from '../instance-lock.js';
import { StartProblem } from '../problem.js';

export const MANIFEST_FILE = 'manifest.json';
const VERSION = 1;

export interface Manifest {
  readonly version: typeof VERSION;
  /** ISO time. Everything that was accepted before it is in the backup. */
  readonly point: string;
  /** Names of the applied migrations of PostgreSQL. ClickHouse's own backup contains its own. */
  readonly migrations: readonly string[];
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Last values of PostgreSQL's sequences. */
  readonly sequences: Readonly<Record<string, string>>;
  /** `events` is about the number in the backup: events come and go while ClickHouse is copied. */
  readonly clickhouse: { readonly database: string; readonly events: number };
  /**
   * SHA-256 by path, of the files that are not ClickHouse's, whose backup has its own checksums.
   */
  readonly files: Readonly<Record<string, string>>;
}

export const newManifest = (content: Omit<Manifest, 'version'>): Manifest => ({ version: VERSION, ...content });

/**
 * Undefined for the archive of a stopped service. Throws a StartProblem for one that is too new.
 */
export function tryReadManifest(folder: string): Manifest | undefined {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  if (manifest.version === VERSION) return manifest;
  throw new StartProblem(`The backup has the form ${manifest.version}, which this version of the service cannot read.`);
}

/** Digests of all files under a folder, by their path in it, without a lock. */
export async function digestFiles(folder: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === LOCK_FILE) continue;
    const path = join(entry.parentPath, entry.name);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    digests[relative(folder, path)] = hash.digest('hex');
  }
  return digests;
}

/** Throws a StartProblem that names a file that is missing or has changed. */
export async function requireFiles(folder: string, { files }: Pick<Manifest, 'files'>): Promise<void> {
  const found = await digestFiles(folder);
  for (const [path, digest] of Object.entries(files)) {
    if (found[path] !== digest) throw new StartProblem(`The backup is damaged: ${path} is missing or has changed.`);
  }
}

/**
 * A remark when a restore has fewer events than were counted: erasure and keeping may have deleted
 * some while the backup was written. ClickHouse checks its files itself. Throws a StartProblem when
 * no event is left.
 */
export function compareEvents(restored: number, { events }: Manifest['clickhouse']): string | undefined {
  if (restored >= events) return undefined;
  if (restored === 0) throw new StartProblem(`The backup is damaged: it has none of ${formatCount(events)} events.`);
  return `The backup has ${formatCount(restored)} events; about ${formatCount(events)} were counted when it was written.`;
}
