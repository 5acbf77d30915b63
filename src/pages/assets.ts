// Static assets of pages (public/). Pages reference them by content hash, cached for a year; their
// plain names are served too, cached for an hour.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Router } from 'express';
import { createRouter } from '../platform/http/router.js';
import { FOREVER, hashOf, serveContent, UNTIL_ASKED_AGAIN } from '../platform/http/static-content.js';
import { packageRoot } from '../platform/paths.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Assets {
  readonly router: Router;
  /** Path of a file with its content hash. Throws when the file does not exist. */
  urlOf(name: string): string;
}

export function loadAssets(folder = join(packageRoot, 'public')): Assets {
  const router = createRouter();
  const urls = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    const extension = extname(name);
    const url = `/public/${name.slice(0, -extension.length)}.${hashOf(content)}${extension}`;
    const type = TYPES[extension];
    if (type === undefined) throw new Error(`public/${name} is of no type that is served`);
    urls.set(name, url);
    router.get(url, serveContent(content, { 'Content-Type': type, 'Cache-Control': FOREVER }));
    router.get(`/public/${name}`, serveContent(content, { 'Content-Type': type, 'Cache-Control': UNTIL_ASKED_AGAIN }));
  }
  return {
    router,
    urlOf(name) {
      const url = urls.get(name);
      if (url === undefined) throw new Error(`there is no public/${name}`);
      return url;
    },
  };
}
