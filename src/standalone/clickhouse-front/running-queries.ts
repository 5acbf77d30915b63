// Which query ids are running. As on a server, a second query of one id is refused (code 216) for as long as the first one
// works in the engine, also after its client has gone: the ingest workers take an id for the lock of a lane.
//
// States of a query: waiting (for a session) → running (on one) → ended. Stopping it while it waits ends it before it starts.
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from './engine.js';
import { engineError } from './engine-error.js';
import type { EngineSession } from './session.js';

export interface QueryToRun {
  readonly id: string;
  readonly sql: string;
  readonly isRead: boolean;
}

export class RunningQuery {
  readonly id: string;
  readonly sql: string;
  readonly isRead: boolean;
  readonly ended: Promise<void>;
  readonly #markEnded: () => void;
  #session: EngineSession | undefined;
  #isStopped = false;
  #isEnded = false;

  constructor({ id, sql, isRead }: QueryToRun) {
    this.id = id;
    this.sql = sql;
    this.isRead = isRead;
    let markEnded = () => {};
    this.ended = new Promise((resolve) => {
      markEnded = resolve;
    });
    this.#markEnded = markEnded;
  }

  /** Call before any work on the session: throws when the query was stopped while it waited. */
  startOn(session: EngineSession): void {
    if (this.#isStopped) throw engineError('QUERY_WAS_CANCELLED', 'Query was cancelled');
    this.#session = session;
  }

  end(): void {
    this.#isEnded = true;
    this.#session = undefined;
    this.#markEnded();
  }

  /** The client has gone. A read is of no use to anyone any more; whatever writes is finished once it has begun. */
  async abandon(engine: Engine): Promise<void> {
    if (this.isRead || this.#session === undefined) await this.stop(engine);
  }

  /** Resolves when the engine has really ended it. */
  async stop(engine: Engine): Promise<void> {
    this.#isStopped = true;
    // Asked again until it has ended: the first call may come before the engine has registered the query.
    while (!this.#isEnded) {
      if (this.#session !== undefined) await engine.interrupt(this.#session);
      await Promise.race([this.ended, delay(100)]);
    }
  }
}

export class RunningQueries {
  readonly #byId = new Map<string, RunningQuery>();

  start(toRun: QueryToRun): RunningQuery {
    if (this.#byId.has(toRun.id)) {
      throw engineError('QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', `Query with id = ${toRun.id} is already running`);
    }
    const query = new RunningQuery(toRun);
    this.#byId.set(query.id, query);
    void query.ended.then(() => this.#byId.delete(query.id));
    return query;
  }

  find(id: string): RunningQuery | undefined {
    return this.#byId.get(id);
  }

  /** Stops the reads and resolves when nothing runs any more. */
  async finish(engine: Engine): Promise<void> {
    await Promise.all([...this.#byId.values()].map((query) => (query.isRead ? query.stop(engine) : query.ended)));
  }
}
