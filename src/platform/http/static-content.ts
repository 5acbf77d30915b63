// Files that are served from memory: compressed once, when the process starts, and asked for again only when they changed.
import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

/** For names that stay when their content changes. */
export const UNTIL_ASKED_AGAIN = 'public, max-age=3600, stale-while-revalidate=86400';
/** For names with the hash of their content in them. */
export const FOREVER = 'public, max-age=31536000, immutable';

export const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

export function serveContent(content: Buffer, headers: Readonly<Record<string, string>>): RequestHandler {
  const hash = hashOf(content);
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
