// /public/service.js, the script that pages load, from what the build left in dist/public. Its own name is stable and asked
// for again after an hour; the name with the hash of its content never changes what it stands for.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type RequestHandler, Router } from 'express';
import { packageRoot } from '../platform/paths.js';

const UNTIL_ASKED_AGAIN = 'public, max-age=3600, stale-while-revalidate=86400';
const FOREVER = 'public, max-age=31536000, immutable';

export function createBrowserScriptRouter(folder = join(packageRoot, 'dist', 'public')): Router {
  const script = readFileSync(join(folder, 'service.js'));
  const map = readFileSync(join(folder, 'service.js.map'));
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const mapName = `service.${hash}.js.map`;

  const serveScript = (caching: string): RequestHandler =>
    serve(script, {
      hash,
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': caching,
      SourceMap: mapName,
    });
  return Router()
    .get('/public/service.js', serveScript(UNTIL_ASKED_AGAIN))
    .get(`/public/service.${hash}.js`, serveScript(FOREVER))
    .get(
      `/public/${mapName}`,
      serve(map, { hash, 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': FOREVER }),
    );
}

/** Compressed once, when the process starts. */
function serve(content: Buffer, { hash, ...headers }: Readonly<Record<string, string>>): RequestHandler {
  const bodies = { br: brotliCompressSync(content), gzip: gzipSync(content, { level: 9 }), identity: content };
  return (req, res) => {
    const encoding = req.acceptsEncodings('br', 'gzip', 'identity') as keyof typeof bodies | false;
    const chosen = encoding === false ? 'identity' : encoding;
    res.set(headers).set({
      ETag: `"${hash}-${chosen}"`,
      Vary: 'Accept-Encoding',
      // Pages of other origins load it, also those that demand this to be said.
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    if (chosen !== 'identity') res.set('Content-Encoding', chosen);
    if (req.fresh) res.status(304).end();
    else res.end(bodies[chosen]);
  };
}
