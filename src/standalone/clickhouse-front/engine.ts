// The embedded engine on one data directory: chdb's sessions as a pool, and a way to end what one of them is doing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from 'chdb';
import { engineConfiguration } from './configuration.js';
import { engineError } from './engine-error.js';
import { EngineSession, quoted, type SessionState } from './session.js';
import { StagingFolder } from './staging-folder.js';

/** Queries that run at once. UV_THREADPOOL_SIZE has to exceed it: each of them occupies one thread of that pool. */
export const SESSIONS_MAX = 16;
export const THREADPOOL_SIZE = SESSIONS_MAX + 8;

export interface EngineOptions {
  readonly directory: string;
  readonly memoryBytes: number;
}

export class Engine {
  readonly staging: StagingFolder;
  readonly #openChdb: () => Session;
  /** Ends other sessions' queries; kept out of the pool so that a full pool can still be interrupted. */
  readonly #control: Session;
  readonly #idle: EngineSession[] = [];
  readonly #waiting: (() => void)[] = [];
  #busyCount = 0;
  #openedCount = 0;
  #controlTail: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  private constructor(control: Session, openChdb: () => Session, staging: StagingFolder) {
    this.#control = control;
    this.#openChdb = openChdb;
    this.staging = staging;
  }

  /** Resolves when the engine has loaded its tables and answered a query. */
  static async open(options: EngineOptions): Promise<Engine> {
    // Imported here: chdb is an optional package, and whoever imports this file may run without it.
    const { Session } = await import('chdb');
    mkdirSync(options.directory, { recursive: true });
    const configurationFile = join(options.directory, 'engine.xml');
    writeFileSync(configurationFile, engineConfiguration(options));
    const store = join(options.directory, 'store');
    // The first connection starts the engine, and only it reads the configuration.
    const control = new Session(store, { connectionArgs: [`--config-file=${configurationFile}`] });
    await control.queryAsync('SELECT 1');
    return new Engine(control, () => new Session(store), await StagingFolder.open(options.directory));
  }

  /** Runs `use` on a session that holds exactly `state`. Waits for its turn when all sessions are busy. */
  async withSession<T>(state: SessionState, use: (session: EngineSession) => Promise<T>): Promise<T> {
    await this.#takeTurn();
    try {
      const session = await this.#findOrOpen(state);
      try {
        await session.prepare(state);
        return await use(session);
      } catch (error) {
        session.spend();
        throw error;
      } finally {
        this.#giveBack(session);
      }
    } finally {
      this.#endTurn();
    }
  }

  /** Asks the engine to end what the session is running. Resolves when asked, not when it has ended. */
  async interrupt(session: EngineSession): Promise<void> {
    // Spent, so that no other request can be what the engine is running when this arrives there.
    session.spend();
    // ASYNC, because SYNC never returns here.
    const sql = `KILL QUERY WHERE Settings['log_comment'] = ${quoted(session.marker)} ASYNC`;
    const turn = this.#controlTail.then(() => this.#control.queryAsync(sql));
    this.#controlTail = turn.catch(() => undefined);
    await turn;
  }

  /** Waits for what is running, then closes all connections. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const { drainPending } = await import('chdb');
    await drainPending();
    for (const session of this.#idle.splice(0)) session.chdb.close();
    this.#control.close();
    await drainPending();
    await this.staging.close();
  }

  async #takeTurn(): Promise<void> {
    if (this.#isClosing) throw engineError('CANNOT_SCHEDULE_TASK', 'the embedded engine is shutting down');
    // A turn is handed from the one that ends to the one that waits longest, so the count stays as it is.
    if (this.#busyCount >= SESSIONS_MAX) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#busyCount += 1;
  }

  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busyCount -= 1;
    else next();
  }

  async #findOrOpen(state: SessionState): Promise<EngineSession> {
    const index = this.#idle.findIndex((session) => session.fits(state));
    const [found] = index === -1 ? [] : this.#idle.splice(index, 1);
    if (found !== undefined) return found;
    this.#openedCount += 1;
    return EngineSession.open(this.#openChdb(), `front-session-${this.#openedCount}`);
  }

  #giveBack(session: EngineSession): void {
    if (session.isSpent || this.#isClosing) session.chdb.close();
    // Most recently used first: sessions that nobody's settings fit any more sink to the end and are closed.
    else this.#idle.unshift(session);
    while (this.#idle.length > SESSIONS_MAX) this.#idle.pop()?.chdb.close();
  }
}
