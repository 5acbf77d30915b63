// The console (console/), built by Vite: its files under names with their hash, and the page that
// loads them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Router } from 'express';
import { createRouter } from '../platform/http/router.js';
import { FOREVER, serveContent } from '../platform/http/static-content.js';
import { packageRoot } from '../platform/paths.js';

const BASE = '/public/console/';
const ENTRY = 'src/main.tsx';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Entry of Vite's manifest. */
interface ManifestChunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

type Manifest = Readonly<Record<string, ManifestChunk>>;

export interface ConsoleAssets {
  readonly router: Router;
  readonly script: string;
  readonly styles: readonly string[];
  /** Modules that the script imports at once. */
  readonly preloads: readonly string[];
}

export function loadConsole(folder = join(packageRoot, 'dist', 'console')): ConsoleAssets {
  const manifestPath = join(folder, 'manifest.json');
  if (!existsSync(manifestPath)) throw new Error(`${folder} does not hold the console; run npm run build`);
  const router = createRouter();
  for (const name of readdirSync(folder)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const read = (suffix = ''): Buffer => readFileSync(join(folder, name + suffix));
    const headers = { 'Content-Type': type, 'Cache-Control': FOREVER };
    router.get(BASE + name, serveContent(read(), headers, { br: read('.br'), gzip: read('.gz') }));
  }
  return { router, ...readEntry(JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest) };
}

function readEntry(manifest: Manifest): Omit<ConsoleAssets, 'router'> {
  const chunks = new Set<ManifestChunk>();
  const visit = (key: string): void => {
    const chunk = manifest[key];
    if (chunk === undefined) throw new Error(`the manifest of the console has no ${key}`);
    if (chunks.has(chunk)) return;
    chunks.add(chunk);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  visit(ENTRY);
  const [entry, ...imported] = chunks;
  return {
    script: BASE + entry?.file,
    styles: [...chunks].flatMap(({ css = [] }) => css.map((name) => BASE + name)),
    preloads: imported.map(({ file }) => BASE + file),
  };
}
