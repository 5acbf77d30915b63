// Reads the events of a person or of a project from ClickHouse in constant memory: by slices of
// time (export-slices.ts), and page by page in each (keyset pagination). A page that breaks off,
// because its place went to another export or ClickHouse restarted, continues after the last line
// that was read.
import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { killQuery } from '../platform/clickhouse/kill-query.js';
import type { FairPlaces, Place } from '../platform/flow/fair-places.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { EVENT_LINE, LINE_SETTINGS } from './export-line.js';
import type { EventsExport, PersonExport } from './export-request.js';
import { type Selection, selectPerson, selectProject } from './export-selection.js';
import { type EventCount, type Slice, toSlices } from './export-slices.js';

export interface ExportSource {
  readonly clickhouse: ClickHouseClient;
  /** Memory limit of one query. */
  readonly memoryBytes: number;
  /** Every query requires a place. */
  readonly places: FairPlaces;
  readonly log: Logger;
}

const FAILURES_MAX = 10;
const FAILURE_DELAY_MS = 1_000;
// A page may have failed because its events are large.
const SMALLER = 4;

/** Widths of slices, in seconds, with the function that counts in them. */
const UNITS = [
  { seconds: 3600, start: 'toStartOfHour' },
  { seconds: 60, start: 'toStartOfMinute' },
  { seconds: 1, start: 'toStartOfSecond' },
] as const;
type Unit = (typeof UNITS)[number];

/**
 * Yields whole lines, many at a time. Rejects with the reason of `signal` when it is aborted, and
 * when events of a person were deleted meanwhile: the export would look complete without them. An
 * export of a project leaves out what is deleted before it is read.
 */
export async function* exportEvents(
  source: ExportSource,
  request: PersonExport | EventsExport,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { reader, slices } = await openReader(source, request, signal);
  for (const slice of slices) {
    const events = yield* readSlice(reader, slice, signal);
    if (request.kind === 'person' && events < slice.events) {
      throw new Error('events were deleted while they were exported');
    }
  }
}

async function openReader(
  source: ExportSource,
  request: PersonExport | EventsExport,
  signal: AbortSignal,
): Promise<{ reader: EventReader; slices: Slice[] }> {
  const place = await source.places.acquire(request.projectId, signal);
  try {
    const selection =
      request.kind === 'person' ? await selectPerson(source.clickhouse, request, signal) : selectProject(request);
    const reader = new EventReader(source, { projectId: request.projectId, selection }, signal);
    return { reader, slices: await reader.slice(UNITS[0]) };
  } finally {
    place.release();
  }
}

/** Position of an event in the order of the export. */
interface Position {
  readonly timeMs: number;
  readonly insertId: string;
  readonly eventType: string;
}

interface PageRequest {
  readonly slice: Slice;
  readonly after: Position;
  readonly limit: number;
  readonly stop: AbortSignal;
}

/** Returns the number of lines. */
async function* readSlice(reader: EventReader, slice: Slice, signal: AbortSignal): AsyncGenerator<Buffer, number> {
  const finer = UNITS.find(({ seconds }) => seconds * 1000 < slice.untilMs - slice.fromMs);
  // One hour or minute alone has more than a slice should have.
  if (slice.events > reader.pageEvents && finer !== undefined) {
    let read = 0;
    for (const part of await sliceAgain(reader, { slice, unit: finer }, signal)) {
      read += yield* readSlice(reader, part, signal);
    }
    return read;
  }
  return yield* readPages(reader, slice, signal);
}

async function sliceAgain(
  reader: EventReader,
  { slice, unit }: { slice: Slice; unit: Unit },
  signal: AbortSignal,
): Promise<Slice[]> {
  for (const retries = new Retries(signal); ; ) {
    const place = await reader.acquirePlace();
    try {
      return await reader.slice(unit, slice);
    } catch (error) {
      place.release();
      await retries.wait(error);
    } finally {
      place.release();
    }
  }
}

/** Returns the number of lines. */
async function* readPages(reader: EventReader, slice: Slice, signal: AbortSignal): AsyncGenerator<Buffer, number> {
  const retries = new Retries(signal);
  let read = 0;
  let after: Position = { timeMs: slice.fromMs, insertId: '', eventType: '' };
  let limit = reader.pageEvents;
  for (;;) {
    let events = 0;
    let isCut = false;
    const place = await reader.acquirePlace();
    try {
      for await (const lines of reader.page({ slice, after, limit, stop: place.lost })) {
        events += lines.length;
        read += lines.length;
        after = positionOf(lines.at(-1) ?? '');
        retries.reset();
        place.lend();
        yield Buffer.from(`${lines.join('\n')}\n`);
        isCut = !place.takeBack();
        if (isCut) break;
      }
      if (!isCut && events < limit) return read;
    } catch (error) {
      place.release();
      await retries.wait(error);
      limit = Math.ceil(limit / SMALLER);
    } finally {
      place.release();
    }
  }
}

/** Failures without progress in between. */
class Retries {
  readonly #signal: AbortSignal;
  #failures = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Rejects with the error when it is one too many, or the export was aborted. */
  async wait(error: unknown): Promise<void> {
    this.#failures += 1;
    if (this.#signal.aborted || this.#failures > FAILURES_MAX) throw error;
    await delay(FAILURE_DELAY_MS, undefined, { signal: this.#signal });
  }
}

function positionOf(line: string): Position {
  const event = JSON.parse(line) as { time: string; insert_id: string; event_type: string };
  return { timeMs: Date.parse(event.time), insertId: event.insert_id, eventType: event.event_type };
}

const countsOf = (belongs: string, start: Unit['start']): string => `
  SELECT toUnixTimestamp(${start}(time)) AS start, count() FROM events WHERE ${belongs} GROUP BY start ORDER BY start`;

const WITHIN =
  "time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({until:Int64}, 'UTC')";

const POSITION = {
  time: "fromUnixTimestamp64Milli({time:Int64}, 'UTC')",
  insert_id: '{insert:String}',
  event_type: '{type:String}',
} as const;

const pageOf = ({ sql, order }: Selection): string => `
  SELECT ${EVENT_LINE} FROM events
  WHERE ${sql} AND ${WITHIN}
    AND ${order[0]} >= ${POSITION[order[0]]} AND (${order.join(', ')}) > (${order.map((column) => POSITION[column]).join(', ')})
  ORDER BY ${order.join(', ')}
  LIMIT {limit:UInt32}`;

class EventReader {
  readonly #source: ExportSource;
  readonly #projectId: ProjectId;
  readonly #selection: Selection;
  readonly #signal: AbortSignal;

  constructor(
    source: ExportSource,
    { projectId, selection }: { projectId: ProjectId; selection: Selection },
    signal: AbortSignal,
  ) {
    this.#source = source;
    this.#projectId = projectId;
    this.#selection = selection;
    this.#signal = signal;
  }

  /** Events that one query reads at most. */
  get pageEvents(): number {
    return 2 * this.#selection.sliceEvents.later;
  }

  acquirePlace(): Promise<Place> {
    return this.#source.places.acquire(this.#projectId, this.#signal);
  }

  /** Slices of the export, or of a slice of it. */
  async slice({ seconds, start }: Unit, within?: Slice): Promise<Slice[]> {
    const { sql, params, sliceEvents } = this.#selection;
    const result = await this.#source.clickhouse.query({
      query: countsOf(within === undefined ? sql : `${sql} AND ${WITHIN}`, start),
      query_params: { ...params, ...(within !== undefined && { from: within.fromMs, until: within.untilMs }) },
      use_multipart_params: true,
      format: 'JSONCompactEachRow',
      abort_signal: this.#signal,
      clickhouse_settings: this.#settings(),
    });
    const rows = await result.json<[start: number, events: string | number]>();
    const counts = rows.map(([at, events]): EventCount => ({ start: at, events: Number(events) }));
    const { first, later } = sliceEvents;
    return toSlices(counts, { seconds, eventsMax: { first: within === undefined ? first : later, later } });
  }

  /**
   * The query ends when the generator or `stop` does, also while the last lines wait for their
   * reader.
   */
  async *page(asked: PageRequest): AsyncGenerator<string[]> {
    const queryId = randomUUID();
    const kill = () => killQuery(this.#source, queryId);
    const onStop = () => void kill();
    asked.stop.addEventListener('abort', onStop, { once: true });
    let isRead = false;
    try {
      yield* this.#readPage(queryId, asked);
      isRead = true;
    } finally {
      asked.stop.removeEventListener('abort', onStop);
      if (!isRead) await kill();
    }
  }

  async *#readPage(queryId: string, { slice, after, limit, stop }: PageRequest): AsyncGenerator<string[]> {
    const signal = AbortSignal.any([this.#signal, stop]);
    const result = await this.#source.clickhouse.query({
      query: pageOf(this.#selection),
      use_multipart_params: true,
      query_params: {
        ...this.#selection.params,
        ...{ from: slice.fromMs, until: slice.untilMs, limit },
        ...{ time: after.timeMs, insert: after.insertId, type: after.eventType },
      },
      format: 'TabSeparatedRaw',
      query_id: queryId,
      abort_signal: signal,
      clickhouse_settings: { ...this.#settings(), ...LINE_SETTINGS, ...this.#selection.settings },
    });
    for await (const rows of addAbortSignal(signal, result.stream())) yield rows.map((row) => row.text);
  }

  #settings() {
    return { readonly: '2', max_memory_usage: String(this.#source.memoryBytes) } as const;
  }
}
