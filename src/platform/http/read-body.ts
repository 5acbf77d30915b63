// Reads and decompresses request bodies, within a limit per body and a byte semaphore over all
// bodies in flight.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { PublicError } from '../errors.js';
import type { ByteSemaphore } from '../flow/byte-semaphore.js';

export interface BodyLimits {
  /** Limit of one body after decompression. */
  readonly bytesMax: number;
  /** Semaphore over all bodies, held from their first byte until they are processed. */
  readonly budget: ByteSemaphore;
}

/**
 * Reads the body and runs `use` with it. Rejects with too_large, bad_request, or rate_limited when
 * the semaphore is full, or the owner holds its share of it.
 */
export type WithBody = <T>(req: IncomingMessage, owner: string, use: (bytes: Buffer) => Promise<T>) => Promise<T>;

/**
 * `findsGzip`: bodies that are gzip by their first bytes are decompressed, whatever the headers
 * say.
 */
export function createBodyReader(
  { bytesMax, budget }: BodyLimits,
  { findsGzip = false }: { readonly findsGzip?: boolean } = {},
): WithBody {
  return async (req, owner, use) => {
    const share = new Share(budget, owner);
    try {
      const sent = await collect(req, { bytesMax, share });
      const bytes = findsGzip && isGzip(sent) ? await unzip(sent, { bytesMax, share }) : sent;
      if (!isUtf8(bytes)) throw notUtf8();
      return await use(bytes);
    } finally {
      share.giveBack();
    }
  };
}

/** The bytes that one request has acquired. */
class Share {
  readonly #budget: ByteSemaphore;
  readonly #owner: string;
  #bytes = 0;

  constructor(budget: ByteSemaphore, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  tryTake(bytes: number): boolean {
    if (!this.#budget.tryAcquire(bytes, this.#owner)) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(): void {
    this.#budget.giveBack(this.#bytes, this.#owner);
  }
}

const incomplete = () => new PublicError('bad_request', 'the request body is incomplete');
const tooLarge = (bytesMax: number) =>
  new PublicError('too_large', `the request body is larger than ${bytesMax} bytes`);
const tooMany = () => new PublicError('rate_limited', 'too many request bytes are in flight; try again in a minute');
const undecodable = (cause: unknown) =>
  new PublicError('bad_request', 'the request body cannot be decompressed', { cause });

/** Letters of another charset would become replacement characters: one person of several ids. */
const notUtf8 = () => new PublicError('bad_request', 'the request body is not valid UTF-8');

const CHUNKS_TOGETHER = 512;

/**
 * Chunks of a body, joined by the hundreds: a client may send single bytes, and a Buffer of one
 * byte takes a hundred.
 */
class Chunks {
  #blocks: Buffer[] = [];
  #latest: Buffer[] = [];

  add(chunk: Buffer): void {
    this.#latest.push(chunk);
    if (this.#latest.length < CHUNKS_TOGETHER) return;
    this.#blocks.push(Buffer.concat(this.#latest));
    this.#latest = [];
  }

  join(): Buffer {
    const chunks = this.#blocks.length === 0 ? this.#latest : [...this.#blocks, ...this.#latest];
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  }
}

/** Not body-parser: on small requests, which are most, it costs more CPU than parsing the event. */
function collect(req: IncomingMessage, { bytesMax, share }: { bytesMax: number; share: Share }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (req.destroyed) throw incomplete();
    if (Number(req.headers['content-length']) > bytesMax) throw tooLarge(bytesMax);
    const body = decode(req);
    let chunks = new Chunks();
    let isRefused = false;
    const refuse = (error: PublicError) => {
      isRefused = true;
      chunks = new Chunks();
      reject(error);
      if (body === req) return;
      // Stop decompressing and discard the rest of the request.
      req.unpipe();
      req.resume();
      body.destroy();
    };
    body.on('data', (chunk: Buffer) => {
      if (isRefused) return;
      if (share.bytes + chunk.length > bytesMax) refuse(tooLarge(bytesMax));
      else if (share.tryTake(chunk.length)) chunks.add(chunk);
      else refuse(tooMany());
    });
    body.on('end', () => resolve(chunks.join()));
    body.on('error', (error) => refuse(body === req ? incomplete() : undecodable(error)));
    req.on('close', () => {
      if (!req.complete) refuse(incomplete());
    });
  });
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function unzip(bytes: Buffer, { bytesMax, share }: { bytesMax: number; share: Share }): Promise<Buffer> {
  const chunks = new Chunks();
  let size = 0;
  const gunzip = createGunzip();
  gunzip.end(bytes);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      if (!share.tryTake(chunk.length)) throw tooMany();
      chunks.add(chunk);
    }
  } catch (error) {
    throw error instanceof PublicError ? error : undecodable(error);
  }
  return chunks.join();
}

const DECODERS: ReadonlyMap<string, () => Readable & NodeJS.WritableStream> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

function decode(req: IncomingMessage): Readable {
  const encoding = req.headers['content-encoding']?.toLowerCase();
  if (encoding === undefined || encoding === 'identity') return req;
  const createDecoder = DECODERS.get(encoding);
  if (createDecoder === undefined) {
    throw new PublicError('bad_request', 'the content encoding is not supported; send identity, gzip or br');
  }
  return req.pipe(createDecoder());
}
