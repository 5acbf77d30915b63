// Session ids for sources without sessions: a session ends after 30 minutes without an event of the
// person, as in the clients of the service.
import { LRUCache } from 'lru-cache';
import type { Id } from './source.js';

const SESSION_GAP_MS = 30 * 60_000;
/** Above this many people with open sessions, those seen longest ago begin a new session. */
const OPEN_SESSIONS_MAX = 200_000;

/** Open sessions of one person: records of two may alternate, because exports are unordered. */
const OPEN_PER_PERSON = 2;

interface OpenSession {
  /** Time of its first record in the file. */
  readonly idMs: number;
  firstMs: number;
  lastMs: number;
}

export class DerivedSessions {
  readonly #prefix: string;
  readonly #open: LRUCache<Id, readonly OpenSession[]>;

  constructor(prefix: string, openSessionsMax = OPEN_SESSIONS_MAX) {
    this.#prefix = prefix;
    this.#open = new LRUCache({ max: openSessionsMax });
  }

  /**
   * The session of an event. Records may be in any order of time, as long as each is within the gap
   * of an open session; the id is that of the first record of the session in the file.
   */
  of(person: Id, timeMs: number): string {
    const open = this.#open.get(person) ?? [];
    const known = open.find(
      ({ firstMs, lastMs }) => timeMs >= firstMs - SESSION_GAP_MS && timeMs <= lastMs + SESSION_GAP_MS,
    );
    if (known !== undefined) {
      known.firstMs = Math.min(known.firstMs, timeMs);
      known.lastMs = Math.max(known.lastMs, timeMs);
      return this.#idOf(person, known);
    }
    const session = { idMs: timeMs, firstMs: timeMs, lastMs: timeMs };
    this.#open.set(person, [session, ...open].slice(0, OPEN_PER_PERSON));
    return this.#idOf(person, session);
  }

  #idOf(person: Id, { idMs }: OpenSession): string {
    return `${this.#prefix}:${person}:${Math.floor(idMs / 1000)}`;
  }
}
