// Serves static files from memory with ETags, compressed by the build or when first asked for.
import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

/** Cache-Control for stable names. */
export const UNTIL_ASKED_AGAIN = 'public, max-age=3600, stale-while-revalidate=86400';
/** Cache-Control for names that contain their content hash. */
export const FOREVER = 'public, max-age=31536000, immutable';

export const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

export interface Compressed {
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** Cache, because contents are served under several names. */
const known = new WeakMap<Buffer, Compressed>();

/** Takes a second for some hundred kilobytes: large files are compressed by the build. */
function compress(content: Buffer): Compressed {
  const before = known.get(content);
  if (before !== undefined) return before;
  const compressed = { br: brotliCompressSync(content), gzip: gzipSync(content, { level: 9 }) };
  known.set(content, compressed);
  return compressed;
}

const CODINGS = ['br', 'gzip'] as const;
type Encoding = keyof Compressed | 'identity';

export function serveContent(
  content: Buffer,
  headers: Readonly<Record<string, string>>,
  compressed?: Compressed,
): RequestHandler {
  const hash = hashOf(content);
  const bodyIn = (encoding: Encoding): Buffer =>
    encoding === 'identity' ? content : (compressed ?? compress(content))[encoding];
  return (req, res) => {
    // The smaller one first: browsers name gzip before br, and mean no order.
    const chosen = CODINGS.find((coding) => req.acceptsEncodings(coding) === coding) ?? 'identity';
    res.set(headers).set({
      ETag: `"${hash}-${chosen}"`,
      Vary: 'Accept-Encoding',
      // Pages of other origins load it, also under Cross-Origin-Embedder-Policy.
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    if (chosen !== 'identity') res.set('Content-Encoding', chosen);
    if (req.fresh) res.status(304).end();
    else res.end(bodyIn(chosen));
  };
}
