// Parts of a process that are loaded when they are used first, so that starts take less.
import { PublicError } from './errors.js';

/** A part that could not be loaded is tried again by the next use. Rejects with unavailable. */
export function loadOnce<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loaded: Promise<Part> | undefined;
  const begin = (): Promise<Part> =>
    load().catch((cause: unknown) => {
      loaded = undefined;
      const message = 'a part of the service cannot be loaded; if it was built since it started, restart it';
      throw new PublicError('unavailable', message, { cause });
    });
  return () => {
    loaded ??= begin();
    return loaded;
  };
}
