// One connection to the engine, brought to exactly what a request asks for before it runs.
//
// States: idle → prepared (settings, parameters and database of one request) → running → idle again, or spent. A session
// is spent after any failure, because chdb then answers the next query with the rest of the failed one's output in front.
import type { Session } from 'chdb';
import { engineError, toEngineError } from './engine-error.js';

export interface SessionState {
  readonly database: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
}

// Where the defaults of a server would not do: an insert is over when it is answered, and parameters travel as text of a
// statement here, which on a server they do not.
const BASE_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['async_insert', '0'],
  ['max_query_size', String(64 * 1024 * 1024)],
]);

export class EngineSession {
  /** Found by it in `system.processes`: chdb gives each query an id of its own, and takes none from outside. */
  readonly marker: string;
  readonly chdb: Session;
  readonly #parameterNames = new Set<string>();
  #settings: ReadonlyMap<string, string> = BASE_SETTINGS;
  #database = 'default';
  #isSpent = false;

  private constructor(chdb: Session, marker: string) {
    this.chdb = chdb;
    this.marker = marker;
  }

  static async open(chdb: Session, marker: string): Promise<EngineSession> {
    const base = [...BASE_SETTINGS].map(([name, value]) => `${name} = ${quoted(value)}`);
    await chdb.queryAsync(`SET log_comment = ${quoted(marker)}, ${base.join(', ')}`);
    return new EngineSession(chdb, marker);
  }

  get isSpent(): boolean {
    return this.#isSpent;
  }

  spend(): void {
    this.#isSpent = true;
  }

  /**
   * Whether nothing that an earlier request left here could reach this one. Parameters cannot be unset, so all that were
   * ever set must be set anew: a query that forgot one has to fail, not to run with another request's value. `readonly`
   * is never lifted, and under `readonly = 1` nothing else can be set.
   */
  fits(state: SessionState): boolean {
    const readonly = this.#settings.get('readonly');
    if (this.#isSpent || readonly === '1' || readonly !== state.settings.get('readonly')) return false;
    for (const name of this.#parameterNames) if (!state.parameters.has(name)) return false;
    return true;
  }

  async prepare(state: SessionState): Promise<void> {
    const changes: string[] = [];
    const settings = new Map([...BASE_SETTINGS, ...state.settings]);
    for (const name of this.#settings.keys()) if (!settings.has(name)) changes.push(`${name} = DEFAULT`);
    for (const [name, value] of settings) {
      if (this.#settings.get(name) !== value) changes.push(`${identifier(name)} = ${quoted(value)}`);
    }
    // `SET param_x` takes the very text that the HTTP interface carries; chdb's own binding runs one query at a time.
    for (const [name, value] of state.parameters) {
      this.#parameterNames.add(name);
      changes.push(`param_${identifier(name)} = ${quoted(value)}`);
    }
    if (this.#database !== state.database) await this.#run(`USE ${backquoted(state.database)}`);
    this.#database = state.database;
    if (changes.length > 0) await this.#run(`SET ${changes.join(', ')}`);
    this.#settings = settings;
  }

  async #run(sql: string): Promise<void> {
    try {
      await this.chdb.queryAsync(sql);
    } catch (error) {
      this.#isSpent = true;
      throw toEngineError(error);
    }
  }
}

export const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
export const backquoted = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

function identifier(name: string): string {
  if (!/^\w+$/.test(name)) throw engineError('UNKNOWN_SETTING', `Unknown setting '${name}'`);
  return name;
}
