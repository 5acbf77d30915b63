// What a source of an import is: a reader of its files and a mapper of its records to events,
// identity links and profile changes. The table of sources is sources/table.ts.
import type { Agent } from '../ingest/enrich/agent.js';
import type { Geography } from '../ingest/enrich/geography.js';
import { messageOf } from '../platform/errors.js';
import type { InputFile } from './input/input-files.js';

/** A record of a file, or a part of it that cannot be read; `line` counts from 1. */
export type ReadRecord<T> =
  | { readonly line: number; readonly value: T }
  | { readonly line: number; readonly problem: string };

export type Properties = Record<string, unknown>;

/**
 * An id as the source has it. A number that JSON cannot hold exactly stays a number, so that the
 * event is refused instead of counting for another person.
 */
export type Id = string | number;

/** An event of /track, before the checks that all sources share. */
export interface ImportedEvent {
  readonly event_type: string;
  /** Epoch milliseconds; undefined when the record has none that can be read. */
  readonly timeMs: number | undefined;
  /** The same in every run: see RecordIds. */
  readonly insert_id: string;
  readonly user_id?: Id | undefined;
  readonly device_id?: Id | undefined;
  readonly session_id?: Id | undefined;
  readonly event_properties: Properties;
  readonly user_properties?: Properties | undefined;
  /** Address of the client. Gives the geography, unless the record has one. */
  readonly ip?: string | undefined;
  readonly user_agent?: string | undefined;
  /** Parts of the client, in records without a user agent. */
  readonly agent?: Agent | undefined;
  readonly geo?: Geography | undefined;
  /** Undefined when the source does not know it. */
  readonly origin: 'client' | 'server' | undefined;
}

export type Mapped =
  | { readonly kind: 'event'; readonly event: ImportedEvent }
  /** From this time on the device belongs to the user; of several links the last holds. */
  | { readonly kind: 'link'; readonly device: Id; readonly user: Id; readonly timeMs: number }
  /** Properties of a user at this time; of several values of a property the last holds. */
  | { readonly kind: 'profile'; readonly user: Id; readonly timeMs: number; readonly properties: Properties }
  /** The user has no profile of records up to this time. */
  | { readonly kind: 'deletion'; readonly user: Id; readonly timeMs: number }
  /** The record has no equal here; `reason` is counted and printed. */
  | { readonly kind: 'skip'; readonly reason: string };

export interface SourceOptions {
  /** Origin such as `https://example.com`, prefixed to paths. */
  readonly site: string | undefined;
  /** IANA name of the zone in which the source wrote times without a zone. */
  readonly timeZone: string | undefined;
}

/** `file`: the one that has the record, by which equal records are numbered. */
export type Mapper<T> = (record: T, file: InputFile) => readonly Mapped[];

export interface SourceSpec<T> {
  readonly name: string;
  /** What its files are, for --help. */
  readonly about: string;
  readonly read: (file: InputFile) => AsyncIterable<ReadRecord<T>>;
  /** Replaces `read` where records of one file need those of another: called before the first. */
  readonly prepare?: (files: readonly InputFile[]) => Promise<Prepared<T>>;
  /** Called once for an import; the mapper may keep state between records, in constant memory. */
  readonly createMapper: (options: SourceOptions) => Mapper<T>;
}

export interface Prepared<T> {
  readonly read: (file: InputFile) => AsyncIterable<ReadRecord<T>>;
  /** Removes what was kept on the disk. */
  readonly close: () => Promise<void>;
}

export interface MappedRecord {
  readonly line: number;
  readonly mapped: readonly Mapped[];
}

/** Reads a file. An import calls `prepare` with all files before, and `close` at its end. */
export interface OpenSource {
  (file: InputFile): AsyncIterable<MappedRecord>;
  readonly prepare?: (files: readonly InputFile[]) => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** A source without the type of its records. */
export interface Source {
  readonly name: string;
  readonly about: string;
  readonly open: (options: SourceOptions) => OpenSource;
}

export function defineSource<T>(spec: SourceSpec<T>): Source {
  const { name, about, read, prepare, createMapper } = spec;
  return {
    ...{ name, about },
    open: (options) => {
      const map = createMapper(options);
      let prepared: Prepared<T> | undefined;
      async function* readMapped(file: InputFile): AsyncGenerator<MappedRecord, void, undefined> {
        for await (const record of (prepared?.read ?? read)(file)) {
          yield {
            line: record.line,
            mapped: 'value' in record ? tryMap(() => map(record.value, file)) : skip(record.problem),
          };
        }
      }
      const prepareFiles = async (files: readonly InputFile[]) => {
        prepared = await prepare?.(files);
      };
      return Object.assign(readMapped, { prepare: prepareFiles, close: async () => prepared?.close() });
    },
  };
}

const skip = (reason: string): readonly Mapped[] => [{ kind: 'skip', reason }];

/** One record must not end its file, such as one that is nested too deep for the stack. */
function tryMap(map: () => readonly Mapped[]): readonly Mapped[] {
  try {
    return map();
  } catch (cause) {
    return skip(`cannot be mapped (${messageOf(cause)})`);
  }
}
