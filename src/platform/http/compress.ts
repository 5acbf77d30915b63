// Compresses answers whose bytes are known when they end, as br or gzip. What is written in pieces,
// such as server-sent events and exports, is left alone: it must reach the reader at once. Not on
// the path of /track, whose answers are short.
//
// Levels 3: 0.05 ms of CPU for 12 KB of JSON, 4 ms for 1.2 MB, in a thread of libuv; a tenth of the
// size. Higher levels cost twice as much for a few percent. The package `compression` would pass
// every answer through a stream.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

/** Shorter answers fit in one packet with their headers. */
const COMPRESSED_BYTES_MIN = 1024;

const CODINGS = ['br', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

/** A larger answer is compressed piece by piece, so that it is not copied as a whole. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

const BROTLI_QUALITY = 3;
const GZIP_LEVEL = 3;
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:json|yaml|xml|javascript)|image\/svg)/;

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

const createCompressor = (coding: Coding) =>
  coding === 'gzip'
    ? createGzip({ level: GZIP_LEVEL })
    : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });

/**
 * At most this many bytes are compressed on the event loop: in 0.07 ms, where handing them to a
 * thread and back takes longer and three times the CPU.
 */
const LOOP_BYTES_MAX = 16 * 1024;

/** Rejects only for lack of memory. */
async function compress(body: Uint8Array, coding: Coding): Promise<Buffer> {
  const isSmall = body.length <= LOOP_BYTES_MAX;
  if (coding === 'gzip') return (isSmall ? gzipSync : toGzip)(body, { level: GZIP_LEVEL });
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_SIZE_HINT: size } = constants;
  const params = { [quality]: BROTLI_QUALITY, [size]: body.length };
  return (isSmall ? brotliCompressSync : toBrotli)(body, { params });
}

/** By bodies that are sent again, such as the text of a catalog. */
const known = new WeakMap<Uint8Array, Map<Coding, Promise<Buffer>>>();

/** The body must not change. */
function compressOnce(body: Uint8Array, coding: Coding): Promise<Buffer> {
  const ofBody = known.get(body) ?? new Map<Coding, Promise<Buffer>>();
  const compressed = ofBody.get(coding) ?? compress(body, coding);
  known.set(body, ofBody.set(coding, compressed));
  return compressed;
}

/** The coding of this answer; undefined when it stays as it is. Says in `Vary` that it depends. */
function chooseCoding(req: Request, res: Response, byteLength: number): Coding | undefined {
  if (byteLength < COMPRESSED_BYTES_MIN || res.hasHeader('Content-Encoding')) return undefined;
  if (!COMPRESSIBLE.test(String(res.getHeader('Content-Type') ?? ''))) return undefined;
  res.vary('Accept-Encoding');
  const accepted = req.acceptsEncodings([...CODINGS, 'identity']);
  return CODINGS.find((coding) => coding === accepted);
}

/** Ends the answer with these bytes, compressed where the client takes that. */
export async function endCompressed(req: Request, res: Response, pieces: readonly Uint8Array[]): Promise<void> {
  const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const coding = chooseCoding(req, res, byteLength);
  if (coding === undefined) {
    res.setHeader('Content-Length', byteLength);
    for (const piece of pieces.slice(0, -1)) res.write(piece);
    res.end(pieces.at(-1));
    return;
  }
  if (byteLength > AT_ONCE_BYTES_MAX) {
    res.setHeader('Content-Encoding', coding);
    // It destroys both ends when the client leaves.
    await pipeline(Readable.from(pieces), createCompressor(coding), res).catch(() => {});
    return;
  }
  const compressed = await compress(Buffer.concat(pieces), coding);
  if (res.destroyed) return;
  res.setHeader('Content-Encoding', coding);
  res.setHeader('Content-Length', compressed.length);
  res.end(compressed);
}

/** For all routes behind it: compresses what `res.json`, `res.send` or one `res.end` sends. */
export const compressAnswers: RequestHandler = (req, res, next) => {
  const end = res.end.bind(res) as (chunk?: unknown, encoding?: unknown, done?: unknown) => Response;
  res.end = ((chunk?: unknown, encoding?: unknown, done?: unknown) => {
    const body = res.headersSent ? undefined : toBytes(chunk, encoding);
    const coding = body && chooseCoding(req, res, body.length);
    if (body === undefined || coding === undefined) return end(chunk, encoding, done);
    (body === chunk ? compressOnce : compress)(body, coding).then(
      (compressed) => {
        if (res.destroyed) return;
        res.setHeader('Content-Encoding', coding);
        res.setHeader('Content-Length', compressed.length);
        end(compressed);
      },
      (error: unknown) => res.destroy(error instanceof Error ? error : undefined),
    );
    return res;
  }) as Response['end'];
  next();
};

function toBytes(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  return chunk instanceof Uint8Array ? chunk : undefined;
}
