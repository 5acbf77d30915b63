// Reads the definitions of projects for queries. Each read asks for the current version, so that a
// change counts for the next query of every process; what was read is kept until its version
// changes.
import { LRUCache } from 'lru-cache';
import type { Keep } from '../keeping/keep.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { createRepeatedWarning, type RepeatedWarning } from '../platform/repeated-warning.js';
import type { Annotation } from '../query/annotations.js';
import type { Definitions } from '../query/definitions/definitions.js';
import { type DefinitionsVersion, findCurrentVersion, findDefinitions } from './store.js';

export interface ReadDefinitions {
  readonly version: number;
  readonly definitions: Definitions;
  readonly annotations?: readonly Annotation[];
  /** How long events are kept; undefined when without end. */
  readonly keep?: Keep;
  /** Why these may not be the current ones. */
  readonly warning?: string;
}

/** Definitions of a project that has defined nothing. */
export const NOTHING: ReadDefinitions = { version: 0, definitions: [] };
/** The warning of an answer that may be wrong for this reason. */
export const DEFINITIONS_UNREAD = 'the definitions of the project could not be read: their names are read as events';
const HELD_MAX = 2_000;
const TIMEOUT_MS = 1_000;

export class DefinitionsReader {
  readonly #postgres: Postgres;
  readonly #warn: RepeatedWarning;
  readonly #held = new LRUCache<string, ReadDefinitions>({ max: HELD_MAX });

  constructor(postgres: Postgres, log: Logger) {
    this.#postgres = postgres;
    this.#warn = createRepeatedWarning({ log, message: 'the definitions of a project could not be read' });
  }

  /** Never rejects: when PostgreSQL does not answer, the answer has a warning. */
  async read(projectId: ProjectId): Promise<ReadDefinitions> {
    try {
      return await withTimeout(TIMEOUT_MS, this.#read(projectId));
    } catch (err) {
      this.#warn(err);
      const held = this.#held.get(projectId);
      return held
        ? { ...held, warning: `the definitions are those of version ${held.version}: newer ones could not be read` }
        : { ...NOTHING, warning: DEFINITIONS_UNREAD };
    }
  }

  async #read(projectId: ProjectId): Promise<ReadDefinitions> {
    const version = await findCurrentVersion(this.#postgres, projectId);
    const held = this.#held.get(projectId);
    if (held?.version === version) return held;
    const found = version === 0 ? undefined : await findDefinitions(this.#postgres, projectId);
    const read = found ? toRead(found) : NOTHING;
    this.#held.set(projectId, read);
    return read;
  }
}

const toRead = ({ version, content }: DefinitionsVersion): ReadDefinitions => ({
  ...{ version, definitions: content.definitions, annotations: content.annotations ?? [] },
  ...(content.keep !== undefined && { keep: content.keep }),
});
