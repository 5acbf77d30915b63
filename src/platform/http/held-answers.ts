// Bounds the answers that a process holds until their clients have read them: an answer may have
// many megabytes, and a client may read it slowly, or not at all.
import type { ServerResponse } from 'node:http';
import { PublicError } from '../errors.js';
import { BOUNDS } from '../flow/bounds.js';
import { ByteSemaphore } from '../flow/byte-semaphore.js';

const held = new ByteSemaphore(BOUNDS.heldAnswerBytes);

/** Before the answer is sent; the bytes are held for the owner until the response ends. */
export function holdAnswer(res: ServerResponse, bytes: number, owner: string): void {
  // A client that has left gets no `close` any more.
  if (res.destroyed) return;
  if (!held.tryAcquire(bytes, owner)) {
    throw new PublicError('rate_limited', 'too many bytes of answers wait to be read; read those, or list fewer rows');
  }
  res.once('close', () => held.giveBack(bytes, owner));
}
