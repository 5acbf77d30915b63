// Import pipeline: records → events → batches → requests with bounded concurrency, then identity
// links and profiles. It owns the counters; files, HTTP and progress output are injected.
import { toEventLimits } from '../ingest/limits.js';
import { findSkipReason } from '../ingest/schema.js';
import { messageOf } from '../platform/errors.js';
import { ConcurrencyLimit } from '../platform/flow/concurrency-limit.js';
import { BATCH_LIMITS, type Batch, BatchBuilder, type BatchLimits, CALL_LIMITS } from './batches.js';
import { addCampaign } from './campaign.js';
import { type CountEvents, countStored } from './count-stored.js';
import { findIdProblem, Identities } from './identities.js';
import type { InputFile } from './input/input-files.js';
import type { ImportedEvent, Mapped, MappedRecord, OpenSource } from './source.js';
import { ImportSummary } from './summary.js';
import type { SendBatch } from './track-client.js';

export interface ImportOptions {
  /** Reads the records of a file. */
  readonly open: OpenSource;
  /** Clients of /track and /identify/batch; undefined in a dry run. */
  readonly clients: ImportClients | undefined;
  /** Name and version of the sender. */
  readonly library: string;
  /** Start of the import, epoch milliseconds: events a day later are refused. */
  readonly nowMs: number;
  readonly overwritesProfiles?: boolean;
  readonly batchLimits?: BatchLimits;
  readonly requestsMax?: number;
  readonly signal?: AbortSignal;
  /** The first parts of each reason that are skipped. */
  readonly onSkipped?: (reason: string, place: string) => void;
  readonly onProgress?: (summary: ImportSummary) => void;
}

export interface ImportClients {
  readonly track: SendBatch;
  readonly identifyBatch: SendBatch;
  /** Counts the events of this source; without it the summary has no stored events. */
  readonly count?: CountEvents;
  /** Sends a batch to `/track?wait=1`, which answers when the events are counted. */
  readonly trackAndWait?: SendBatch;
}

/** The default limits of the service. Lower ones of a service show as refused events. */
const LIMITS = toEventLimits({
  MAX_PROPERTIES_COUNT: 256,
  MAX_USER_PROPS_COUNT: 128,
  MAX_PROPERTY_KEY_LEN: 256,
  MAX_PROPERTY_VALUE_LEN: 8192,
});
/** The service would replace times outside by the time of receipt, which differs in every run. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1);
const TIME_AHEAD_MAX_MS = 24 * 60 * 60_000;
const REQUESTS_MAX = 3;
const IDENTIFY_REQUESTS_MAX = 8;
const PROGRESS_EVERY_RECORDS = 5000;

/** Rejects with the first failure of a client, with the summary up to it in `onProgress`. */
export async function runImport(files: readonly InputFile[], options: ImportOptions): Promise<ImportSummary> {
  const run = new ImportRun(options);
  try {
    await run.countBefore();
    await options.open.prepare?.(files);
    for (const file of files) await run.readFile(file);
    await run.sendEvents();
    await run.sendIdentities();
    await run.countAfter();
    return run.summary;
  } finally {
    await run.close();
  }
}

class ImportRun {
  readonly summary = new ImportSummary();
  readonly #options: ImportOptions;
  readonly #builder: BatchBuilder;
  readonly #requests: ConcurrencyLimit;
  readonly #identities: Identities;
  #before: number | undefined;
  #lastBody: string | undefined;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options.batchLimits ?? BATCH_LIMITS);
    this.#requests = new ConcurrencyLimit(options.requestsMax ?? REQUESTS_MAX);
    this.#identities = new Identities({
      limits: LIMITS,
      nowMs: options.nowMs,
      overwritesProfiles: options.overwritesProfiles ?? false,
    });
  }

  /** Reads a file to its end, or to where it is damaged. */
  async readFile(file: InputFile): Promise<void> {
    const records = this.#options.open(file)[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.#options.signal?.throwIfAborted();
        const record = await this.#readNext(records, file);
        if (record === undefined) return;
        this.summary.read += 1;
        for (const mapped of record.mapped) await this.#add(mapped, `${file.name}:${record.line}`);
        if (this.summary.read % PROGRESS_EVERY_RECORDS === 0) this.#options.onProgress?.(this.summary);
      }
    } finally {
      // Closes the file, and removes what its reader keeps on the disk.
      await records.return?.();
    }
  }

  /** Undefined at the end of the file, or where it is damaged. */
  async #readNext(records: AsyncIterator<MappedRecord>, file: InputFile): Promise<MappedRecord | undefined> {
    try {
      const next = await records.next();
      return next.done === true ? undefined : next.value;
    } catch (cause) {
      this.#options.signal?.throwIfAborted();
      this.summary.cutFiles += 1;
      this.#skip(`the file cannot be read to its end (${messageOf(cause)})`, file.name);
      return undefined;
    }
  }

  /** Sends what is left of the events, and waits for all responses. */
  async sendEvents(): Promise<void> {
    const last = this.#builder.take();
    if (last !== undefined) await this.#submit(last);
    await this.#requests.drain();
  }

  async sendIdentities(): Promise<void> {
    const { signal } = this.#options;
    const builder = new BatchBuilder(CALL_LIMITS, 'calls');
    const requests = new ConcurrencyLimit(IDENTIFY_REQUESTS_MAX);
    let lastUser: string | undefined;
    for await (const { kind, call, problem } of this.#identities.calls()) {
      signal?.throwIfAborted();
      const user = call.user_id;
      if (problem !== undefined) {
        this.#skip(`${kind} refused: ${problem}`, `user ${user}`);
        continue;
      }
      if (kind === 'link') this.summary.links += 1;
      else if (user !== lastUser) this.summary.profiles += 1;
      lastUser = kind === 'link' ? undefined : user;
      this.summary.people.add(user);
      const full = builder.add(call);
      if (full !== undefined) await this.#identify(full, requests);
    }
    const last = builder.take();
    if (last !== undefined) await this.#identify(last, requests);
    await requests.drain();
  }

  async #identify(batch: Batch, requests: ConcurrencyLimit): Promise<void> {
    const { clients, onProgress } = this.#options;
    if (clients === undefined) return;
    await requests.push(async () => {
      await clients.identifyBatch(batch.body);
      onProgress?.(this.summary);
    });
  }

  async countBefore(): Promise<void> {
    this.#before = await this.#options.clients?.count?.();
  }

  async countAfter(): Promise<void> {
    const { count, trackAndWait } = this.#options.clients ?? {};
    const [before, body] = [this.#before, this.#lastBody];
    if (count === undefined || trackAndWait === undefined || before === undefined || body === undefined) return;
    const sendLastAgain = async () => (await trackAndWait(body)).counted === true;
    this.summary.stored = await countStored(count, { before, sent: this.summary.accepted, sendLastAgain });
  }

  async close(): Promise<void> {
    await this.#identities.close();
    await this.#options.open.close?.();
  }

  async #add(mapped: Mapped, place: string): Promise<void> {
    switch (mapped.kind) {
      case 'event':
        return this.#addEvent(mapped.event, place);
      case 'skip':
        return this.#skip(mapped.reason, place);
      case 'link': {
        const problem = findIdProblem(mapped.device) ?? findIdProblem(mapped.user) ?? this.#findAhead(mapped.timeMs);
        return problem === undefined ? this.#identities.addLink(mapped) : this.#skip(`link: ${problem}`, place);
      }
      case 'profile': {
        const problem = findIdProblem(mapped.user) ?? this.#findAhead(mapped.timeMs);
        return problem === undefined ? this.#identities.addProfile(mapped) : this.#skip(`profile: ${problem}`, place);
      }
      case 'deletion':
        return this.#identities.addDeletion(mapped);
    }
  }

  async #addEvent(event: ImportedEvent, place: string): Promise<void> {
    const timeMs = event.timeMs;
    const problem = this.#findTimeProblem(timeMs);
    if (problem !== undefined || timeMs === undefined) return this.#skip(problem ?? 'no time', place);
    const wire = toWireEvent(this.#withinLimits(event, place), timeMs, this.#options.library);
    const reason = findSkipReason(wire, LIMITS);
    if (reason !== undefined) return this.#skip(`invalid here: ${reason}`, place);
    this.summary.addEvent(event, timeMs);
    const full = this.#builder.add(wire);
    if (full !== undefined) await this.#submit(full);
  }

  /** The profile has them as well: they must not cost the event. */
  #withinLimits(event: ImportedEvent, place: string): ImportedEvent {
    const count = Object.keys(event.user_properties ?? {}).length;
    if (count <= LIMITS.userPropertiesMax) return event;
    this.#skip(`user properties of an event left out: more than ${LIMITS.userPropertiesMax}`, place);
    return { ...event, user_properties: undefined };
  }

  #findTimeProblem(timeMs: number | undefined): string | undefined {
    if (timeMs === undefined || Number.isNaN(timeMs)) return 'no time that can be read';
    return timeMs < TIME_MIN_MS ? 'the time is before 2000' : this.#findAhead(timeMs);
  }

  /**
   * Why a time of the future is skipped. So are links and profiles: one would replace earlier ones,
   * and then be refused itself.
   */
  #findAhead(timeMs: number): string | undefined {
    return timeMs > this.#options.nowMs + TIME_AHEAD_MAX_MS ? 'the time is more than 24 h ahead' : undefined;
  }

  #submit(batch: Batch): Promise<void> {
    const { clients, onProgress } = this.#options;
    this.#lastBody = batch.body;
    return this.#requests.push(async () => {
      const { accepted, dropped = 0 } = (await clients?.track(batch.body)) ?? { accepted: batch.events };
      this.summary.events += batch.events;
      this.summary.dropped += dropped;
      this.summary.refused += batch.events - accepted - dropped;
      onProgress?.(this.summary);
    });
  }

  #skip(reason: string, place: string): void {
    if (this.summary.addSkipped(reason, place)) this.#options.onSkipped?.(reason, place);
  }
}

/**
 * The body of one event. Client values that the record does not have are empty, because the service
 * would otherwise take those of the importing request.
 */
function toWireEvent(event: ImportedEvent, timeMs: number, library: string): object {
  addCampaign(event.event_properties);
  // Field by field, because a copy of all takes twice as long. Absent ones are not serialized.
  return {
    event_type: event.event_type,
    time: new Date(timeMs).toISOString(),
    insert_id: event.insert_id,
    user_id: event.user_id,
    device_id: event.device_id,
    session_id: event.session_id,
    event_properties: event.event_properties,
    user_properties: event.user_properties,
    ip: event.ip ?? '',
    user_agent: event.user_agent ?? '',
    agent: event.agent,
    geo: event.geo,
    origin: event.origin,
    library,
  };
}
