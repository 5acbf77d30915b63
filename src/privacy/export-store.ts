// Reads the events of a person from ClickHouse, oldest first, in constant memory: first the devices
// of the person, then page by page (keyset pagination). A page that breaks off, because its place
// went to another export or ClickHouse restarted, continues after the last line that was read.
import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { killQuery } from '../platform/clickhouse/kill-query.js';
import { inParameters } from '../platform/clickhouse/parameter-fields.js';
import type { FairPlaces, Place } from '../platform/flow/fair-places.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { EVENT_LINE, LINE_SETTINGS } from './export-line.js';
import { type HourCount, type Slice, toSlices } from './export-slices.js';

export interface ExportedPerson {
  readonly projectId: ProjectId;
  readonly userId: string;
}

export interface ExportSource {
  readonly clickhouse: ClickHouseClient;
  /** Memory limit of one query. */
  readonly memoryBytes: number;
  /** Every query requires a place. */
  readonly places: FairPlaces;
  readonly log: Logger;
}

// Twice as many use a sixth less CPU in ClickHouse, and about 100 MB more memory (one run each).
const SLICE_EVENTS = { first: 2_500, later: 20_000 };
const PAGE_EVENTS = 2 * SLICE_EVENTS.later;
const FAILURES_MAX = 10;
const FAILURE_DELAY_MS = 1_000;
// A page may have failed because its events are large.
const SMALLER = 4;

/**
 * Yields whole lines, many at a time. Rejects with the reason of `signal` when it is aborted, and
 * when events were deleted meanwhile: the export would look complete without them.
 */
export async function* exportEvents(
  source: ExportSource,
  person: ExportedPerson,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { reader, slices } = await openPerson(source, person, signal);
  for (const slice of slices) {
    const events = yield* readSlice(reader, slice, signal);
    if (events < slice.events) throw new Error('events were deleted while they were exported');
  }
}

async function openPerson(
  source: ExportSource,
  person: ExportedPerson,
  signal: AbortSignal,
): Promise<{ reader: PersonReader; slices: Slice[] }> {
  const place = await source.places.acquire(person.projectId, signal);
  try {
    const reader = new PersonReader(source, person, await findDevices(source, person, signal), signal);
    return { reader, slices: toSlices(await reader.countByHour(), SLICE_EVENTS) };
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

/** Returns the number of lines. */
async function* readSlice(reader: PersonReader, slice: Slice, signal: AbortSignal): AsyncGenerator<Buffer, number> {
  let read = 0;
  let after: Position = { timeMs: slice.fromMs, insertId: '', eventType: '' };
  let limit = PAGE_EVENTS;
  let failures = 0;
  for (;;) {
    let events = 0;
    let isCut = false;
    const place = await reader.acquirePlace();
    try {
      for await (const lines of reader.page({ after, untilMs: slice.untilMs, limit, stop: place.lost })) {
        events += lines.length;
        read += lines.length;
        after = positionOf(lines.at(-1) ?? '');
        failures = 0;
        place.lend();
        yield Buffer.from(`${lines.join('\n')}\n`);
        isCut = !place.takeBack();
        if (isCut) break;
      }
      if (!isCut && events < limit) return read;
    } catch (error) {
      place.release();
      failures += 1;
      if (signal.aborted || failures > FAILURES_MAX) throw error;
      limit = Math.ceil(limit / SMALLER);
      await delay(FAILURE_DELAY_MS, undefined, { signal });
    } finally {
      place.release();
    }
  }
}

function positionOf(line: string): Position {
  const event = JSON.parse(line) as { time: string; insert_id: string; event_type: string };
  return { timeMs: Date.parse(event.time), insertId: event.insert_id, eventType: event.event_type };
}

type Devices = readonly { readonly id: string; readonly hash: bigint }[];

// The devices mapped to the person, and an unmapped device whose id equals the user id.
const DEVICES = `
  SELECT device_id, toString(device_hash) FROM device_map FINAL
  WHERE project_id = {project:UUID} AND user_hash = sipHash64({user:String}) AND user_id = {user:String}
  UNION ALL
  SELECT {user:String}, toString(sipHash64({user:String}))
  WHERE {user:String} NOT IN (
    SELECT device_id FROM device_map FINAL WHERE project_id = {project:UUID} AND device_id = {user:String}
  )`;

async function findDevices(
  { clickhouse }: ExportSource,
  { projectId, userId }: ExportedPerson,
  signal: AbortSignal,
): Promise<Devices> {
  const result = await clickhouse.query({
    query: DEVICES,
    query_params: { project: projectId, user: userId },
    format: 'JSONCompactEachRow',
    abort_signal: signal,
    clickhouse_settings: { readonly: '2' },
  });
  const rows = await result.json<[id: string, hash: string]>();
  return rows.map(([id, hash]) => ({ id, hash: BigInt(hash) }));
}

interface Belonging {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Passes ids as literal lists: ClickHouse looks them up as a set and uses the indexes on their
 * hashes, and the embedded engine can stream the result, because there is no subquery. The text is
 * compared as well, because hashes can collide.
 */
function belongingTo({ projectId, userId }: ExportedPerson, devices: Devices): Belonging {
  const params: Record<string, unknown> = { project: projectId, user: userId };
  const ofDevices = inParameters(devices.map(({ id }) => id)).map((ids, list) => {
    const some = new Set(ids);
    params[`devices${list}`] = ids;
    params[`hashes${list}`] = devices.filter(({ id }) => some.has(id)).map(({ hash }) => hash);
    return `device_hash IN {hashes${list}:Array(UInt64)} AND device_id IN {devices${list}:Array(String)}`;
  });
  return {
    sql: `project_id = {project:UUID} AND (
    user_hash = sipHash64({user:String}) AND user_id = {user:String}
    OR user_hash = 0 AND (${ofDevices.join(' OR ') || 'false'}))`,
    params,
  };
}

const hoursOf = (belongs: string): string => `
  SELECT toUnixTimestamp(toStartOfHour(time)) AS hour, count() FROM events WHERE ${belongs} GROUP BY hour ORDER BY hour`;

const pageOf = (belongs: string): string => `
  SELECT ${EVENT_LINE} FROM events
  WHERE ${belongs}
    AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND (time, insert_id, event_type) > (fromUnixTimestamp64Milli({from:Int64}, 'UTC'), {insert:String}, {type:String})
  ORDER BY time, insert_id, event_type
  LIMIT {limit:UInt32}`;

class PersonReader {
  readonly #source: ExportSource;
  readonly #projectId: ProjectId;
  readonly #belongs: Belonging;
  readonly #signal: AbortSignal;

  constructor(source: ExportSource, person: ExportedPerson, devices: Devices, signal: AbortSignal) {
    this.#source = source;
    this.#projectId = person.projectId;
    this.#belongs = belongingTo(person, devices);
    this.#signal = signal;
  }

  acquirePlace(): Promise<Place> {
    return this.#source.places.acquire(this.#projectId, this.#signal);
  }

  async countByHour(): Promise<HourCount[]> {
    const result = await this.#source.clickhouse.query({
      query: hoursOf(this.#belongs.sql),
      query_params: this.#belongs.params,
      use_multipart_params: true,
      format: 'JSONCompactEachRow',
      abort_signal: this.#signal,
      clickhouse_settings: this.#settings(),
    });
    const rows = await result.json<[hour: number, events: string | number]>();
    return rows.map(([hour, events]) => ({ hour, events: Number(events) }));
  }

  /**
   * The query ends when the generator or `stop` does, also while the last lines wait for their
   * reader.
   */
  async *page(asked: { after: Position; untilMs: number; limit: number; stop: AbortSignal }): AsyncGenerator<string[]> {
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

  async *#readPage(
    queryId: string,
    { after, untilMs, limit, stop }: { after: Position; untilMs: number; limit: number; stop: AbortSignal },
  ): AsyncGenerator<string[]> {
    const signal = AbortSignal.any([this.#signal, stop]);
    const result = await this.#source.clickhouse.query({
      query: pageOf(this.#belongs.sql),
      use_multipart_params: true,
      query_params: {
        ...this.#belongs.params,
        ...{ from: after.timeMs, insert: after.insertId, type: after.eventType, until: untilMs, limit },
      },
      format: 'TabSeparatedRaw',
      query_id: queryId,
      abort_signal: signal,
      clickhouse_settings: { ...this.#settings(), ...LINE_SETTINGS },
    });
    for await (const rows of addAbortSignal(signal, result.stream())) yield rows.map((row) => row.text);
  }

  #settings() {
    return { readonly: '2', max_memory_usage: String(this.#source.memoryBytes) } as const;
  }
}
