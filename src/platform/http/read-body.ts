// The bytes of a request's body, decompressed, within a limit.
import express, { type Request, type Response } from 'express';
import { PublicError } from '../errors.js';

export type BodyReader = (req: Request, res: Response) => Promise<Buffer>;

/**
 * Bodies that are not compressed, which is nearly all of them, are only collected: on small requests body-parser's way
 * through streams and middleware costs more than parsing the event. Everything else is body-parser's business.
 */
export function createBodyReader(bytesMax: number): BodyReader {
  const parse = express.raw({ type: () => true, limit: bytesMax });
  const readEncoded: BodyReader = (req, res) =>
    new Promise((resolve, reject) => {
      parse(req, res, (error?: unknown) => {
        if (error) reject(error);
        else resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
      });
    });
  return (req, res) => {
    const encoding = req.headers['content-encoding'];
    return encoding === undefined || encoding === 'identity' ? collect(req, bytesMax) : readEncoded(req, res);
  };
}

function collect(req: Request, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const incomplete = () => new PublicError('bad_request', 'the request body is incomplete');
    if (req.destroyed) {
      reject(incomplete());
      return;
    }
    const tooLarge = () => new PublicError('too_large', `the request body is larger than ${bytesMax} bytes`);
    if (Number(req.headers['content-length']) > bytesMax) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else reject(tooLarge());
    });
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
    req.on('error', reject);
    req.on('close', () => {
      if (!req.complete) reject(incomplete());
    });
  });
}
