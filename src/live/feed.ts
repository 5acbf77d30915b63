// Live feed of a project's newest events: one query per second and project, shared by all its
// viewers. The query counts as one of the project, so it waits and is limited like its other
// queries.
import type { Rejected } from '../ingest/answers.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { RepeatedWarning } from '../platform/repeated-warning.js';

export type Row = Readonly<Record<string, unknown>>;

type Sample = Rejected['samples'][number];

/** A person who watches a project. */
export interface Watcher {
  readonly projectId: ProjectId;
  readonly personId: string;
}

/** Events of one answer. */
export const EVENTS_MAX = 50;

export interface FeedSource {
  /**
   * The newest events, the newest first, at most `EVENTS_MAX`. It asks as the person who opened the
   * feed; every other one was admitted, too.
   */
  readonly readEvents: (watcher: Watcher, signal: AbortSignal) => Promise<readonly Row[]>;
  readonly readRejected: (projectId: ProjectId) => Promise<readonly Sample[]>;
  /** Logs a failure that viewers are told without its cause. */
  readonly warn: RepeatedWarning;
}

export interface Message {
  /** `gap`: more events may have come than the `events` before it contain. */
  readonly kind: 'events' | 'gap' | 'rejected' | 'problem';
  readonly data: unknown;
}

export type Viewer = (message: Message) => void;

export const UNREADABLE = 'the events cannot be read right now';

const POLL_MS = 1000;
/** After a failure, such as a limit of the project's queries. */
const PAUSE_MS = 5000;

export class LiveFeeds {
  readonly #source: FeedSource;
  readonly #feeds = new Map<ProjectId, Feed>();

  constructor(source: FeedSource) {
    this.#source = source;
  }

  /** Returns the function that ends it. */
  watch(watcher: Watcher, viewer: Viewer): () => void {
    const { projectId } = watcher;
    const feed = this.#feeds.get(projectId) ?? new Feed(watcher, this.#source);
    this.#feeds.set(projectId, feed);
    feed.add(viewer);
    return () => {
      if (feed.remove(viewer) === 0) this.#feeds.delete(projectId);
    };
  }
}

/** The key of a stored event. Its person may change when its device is mapped to a user. */
const keyOfEvent = ({ event_type: type, time, insert_id: id }: Row): string => JSON.stringify([type, time, id]);

/** What was new in the last answers. */
class News<T> {
  readonly #keyOf: (item: T) => string;
  #known = new Set<string>();
  #last: readonly T[] = [];

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf;
  }

  get last(): readonly T[] {
    return this.#last;
  }

  take(items: readonly T[]): readonly T[] {
    const keys = items.map((item) => this.#keyOf(item));
    const fresh = items.filter((_, index) => !this.#known.has(keys[index] ?? ''));
    this.#known = new Set(keys);
    this.#last = items;
    return fresh;
  }
}

class Feed {
  readonly #watcher: Watcher;
  readonly #source: FeedSource;
  readonly #viewers = new Set<Viewer>();
  readonly #ended = new AbortController();
  readonly #events = new News<Row>(keyOfEvent);
  readonly #rejected = new News<Sample>((sample) => JSON.stringify(sample));
  #timer: NodeJS.Timeout | undefined;
  #hasAnswered = false;

  constructor(watcher: Watcher, source: FeedSource) {
    this.#watcher = watcher;
    this.#source = source;
    void this.#poll();
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    if (!this.#hasAnswered) return;
    viewer({ kind: 'events', data: this.#events.last });
    viewer({ kind: 'rejected', data: this.#rejected.last });
  }

  /** Returns how many are left. */
  remove(viewer: Viewer): number {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) {
      clearTimeout(this.#timer);
      this.#ended.abort();
    }
    return this.#viewers.size;
  }

  async #poll(): Promise<void> {
    let pauseMs = POLL_MS;
    try {
      const [events, rejected] = await Promise.all([
        this.#source.readEvents(this.#watcher, this.#ended.signal),
        this.#source.readRejected(this.#watcher.projectId),
      ]);
      const [newEvents, newRejected] = [this.#events.take(events), this.#rejected.take(rejected)];
      if (newEvents.length > 0 || !this.#hasAnswered) this.#send({ kind: 'events', data: newEvents });
      // Without a known event, the answer may not reach back to the one before.
      const hasGap = this.#hasAnswered && newEvents.length >= EVENTS_MAX && newEvents.length === events.length;
      if (hasGap) this.#send({ kind: 'gap', data: {} });
      if (newRejected.length > 0) this.#send({ kind: 'rejected', data: newRejected });
      this.#hasAnswered = true;
    } catch (error) {
      pauseMs = PAUSE_MS;
      if (!this.#ended.signal.aborted) this.#tell(error);
    }
    if (!this.#ended.signal.aborted) this.#timer = setTimeout(() => void this.#poll(), pauseMs);
  }

  /** Texts of stores, which may name addresses of the installation, are in the log only. */
  #tell(error: unknown): void {
    const isPublic = error instanceof PublicError;
    const cause = isPublic ? error.cause : error;
    if (cause !== undefined) this.#source.warn(cause, { project: this.#watcher.projectId });
    this.#send({ kind: 'problem', data: { error: isPublic ? error.message : UNREADABLE } });
  }

  #send(message: Message): void {
    for (const viewer of this.#viewers) viewer(message);
  }
}
