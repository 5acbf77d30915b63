// Session ids for sources without sessions: a session ends after 30 minutes without an event of the
// person, as in the clients of the service.
import { LRUCache } from 'lru-cache';
import type { Id } from './source.js';

export const SESSION_GAP_MS = 30 * 60_000;
/** Above this many people with open sessions, those seen longest ago begin a new session. */
const OPEN_SESSIONS_MAX = 200_000;

interface OpenSession {
  readonly firstMs: number;
  lastMs: number;
}

export class DerivedSessions {
  readonly #prefix: string;
  readonly #open: LRUCache<Id, OpenSession>;

  constructor(prefix: string, openSessionsMax = OPEN_SESSIONS_MAX) {
    this.#prefix = prefix;
    this.#open = new LRUCache({ max: openSessionsMax });
  }

  /**
   * The session of an event. Records may be out of order by less than the gap; the id is that of
   * the first record of the session in the file.
   */
  of(person: Id, timeMs: number): string {
    const known = this.#open.get(person);
    if (known !== undefined && timeMs <= known.lastMs + SESSION_GAP_MS && timeMs >= known.firstMs - SESSION_GAP_MS) {
      known.lastMs = Math.max(known.lastMs, timeMs);
      return this.#idOf(person, known);
    }
    const session = { firstMs: timeMs, lastMs: timeMs };
    this.#open.set(person, session);
    return this.#idOf(person, session);
  }

  #idOf(person: Id, { firstMs }: OpenSession): string {
    return `${this.#prefix}:${person}:${Math.floor(firstMs / 1000)}`;
  }
}
