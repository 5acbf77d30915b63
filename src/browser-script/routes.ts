// Route of the browser script /public/service.js (built into dist/public). The plain name is cached
// for an hour; the name with the content hash is immutable.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';
import { createRouter } from '../platform/http/router.js';
import { FOREVER, hashOf, serveContent, UNTIL_ASKED_AGAIN } from '../platform/http/static-content.js';
import { packageRoot } from '../platform/paths.js';

export function createBrowserScriptRouter(folder = join(packageRoot, 'dist', 'public')): Router {
  const script = readFileSync(join(folder, 'service.js'));
  const map = readFileSync(join(folder, 'service.js.map'));
  const hash = hashOf(script);
  const mapName = `service.${hash}.js.map`;

  const serveScript = (caching: string) =>
    serveContent(script, {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': caching,
      SourceMap: mapName,
    });
  return createRouter()
    .get('/public/service.js', serveScript(UNTIL_ASKED_AGAIN))
    .get(`/public/service.${hash}.js`, serveScript(FOREVER))
    .get(
      `/public/${mapName}`,
      serveContent(map, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': FOREVER }),
    );
}
