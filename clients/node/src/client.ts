// Client API: tracking calls enqueue without waiting; invalid arguments throw at once, failed
// deliveries go to `onError`.
import { assignVariant } from './assignment.js';
import { ExposureMemory } from './exposure-memory.js';
import { SendQueue } from './queue.js';
import { randomId } from './random-id.js';
import { toPageError, toServiceError } from './service-error.js';
import type {
  AnyEvents,
  Assignment,
  ChoiceOptions,
  ClientOptions,
  Identification,
  QueryAnswer,
  QueryOptions,
  TrackedEvent,
} from './types.js';
import { VERSION } from './version.js';

const QUEUE_ITEMS_MAX = 10_000;
const CLOSE_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;
/** Placeholder ids of programs without an id: accepting them would merge unrelated people. */
const PLACEHOLDER_IDS = new Set(['', 'null', 'undefined', 'NaN', '[object Object]']);
const ID_FIELDS = ['user_id', 'device_id', 'session_id', 'insert_id'] as const;

/** `Events`: properties by event type; any by default. */
export class Client<Events extends object = AnyEvents> {
  readonly #key: string;
  readonly #host: string;
  readonly #seed: string;
  readonly #queue: SendQueue;
  readonly #exposures = new ExposureMemory();

  constructor({ key, host, projectId, queueMax = QUEUE_ITEMS_MAX, onError = () => undefined }: ClientOptions) {
    if (!key || !host) throw new TypeError('a client needs a key and a host');
    this.#key = key;
    this.#host = host.replace(/\/+$/, '');
    this.#seed = projectId || key;
    this.#queue = new SendQueue({ key, host: this.#host, queueMax, onError });
  }

  track(event: TrackedEvent<Events>): void {
    this.#queue.add('/track', toEventJson(event));
  }

  /** Queues all events, or none: an invalid one throws before the first is queued. */
  trackBatch(events: readonly TrackedEvent<Events>[]): void {
    for (const json of events.map((event) => toEventJson(event))) this.#queue.add('/track', json);
  }

  identify(identification: Identification): void {
    const userId: unknown = identification?.user_id;
    if (typeof userId === 'boolean' || PLACEHOLDER_IDS.has(String(userId ?? '')))
      throw new TypeError('identify needs a user_id');
    this.#queue.add('/identify', toJson(withIdsAsText(identification)));
  }

  /**
   * Needs a secret key, or a token that may query. Rejects with a ServiceError that names every
   * mistake of the query.
   */
  query(q: string, options?: QueryOptions & { readonly format?: 'json' }): Promise<QueryAnswer>;
  query(q: string, options: QueryOptions & { readonly format: 'llm' | 'csv' }): Promise<string>;
  async query(q: string, options: QueryOptions & { readonly format?: string } = {}): Promise<QueryAnswer | string> {
    const response = await fetch(`${this.#host}/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': this.#key },
      body: JSON.stringify({ ...options, q, format: options.format ?? 'json' }),
      signal: AbortSignal.timeout(QUERY_TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw toServiceError(response.status, text);
    const error = toPageError(response);
    if (error !== undefined) throw error;
    return options.format === 'llm' || options.format === 'csv' ? text : (JSON.parse(text) as QueryAnswer);
  }

  /** Deterministic variant of a user or device, without request and without exposure. */
  assign(key: string, variants: readonly string[], options: ChoiceOptions): Assignment {
    const { user_id, device_id, session_id, weights, version, environment = 'production' } = options;
    const unit = options.unit ?? (user_id ? 'user_id' : 'device_id');
    const subject = options[unit];
    if (!subject) throw new TypeError(`a choice by ${unit} needs a ${unit}`);
    if (weights !== undefined && weights.length !== variants.length)
      throw new TypeError('a choice needs a weight for each variant');
    const { variant, weight, assignmentId } = assignVariant([this.#seed, environment, key, subject], variants, weights);
    if (variant === undefined || weight === undefined)
      throw new TypeError('a choice needs variants, and a positive weight');
    return {
      choice_key: key,
      variant_key: variant,
      variant_weight: weight,
      ...(version !== undefined && { choice_version: version }),
      environment,
      randomization_unit: unit,
      assignment_id: assignmentId,
      ...(user_id && { user_id }),
      ...(device_id && { device_id }),
      ...(session_id && { session_id }),
    };
  }

  /** Records an exposure, at most once per assignment in 30 minutes. */
  expose({ user_id, device_id, session_id, ...properties }: Assignment): void {
    const event = { event_type: 'service.exposure', insert_id: properties.assignment_id, event_properties: properties };
    const json = toEventJson({
      ...event,
      ...(user_id && { user_id }),
      ...(device_id && { device_id }),
      ...(session_id && { session_id }),
    });
    // Remembered last: properties that cannot be serialized throw above.
    if (!this.#exposures.isNew(properties.assignment_id, Date.now())) return;
    if (!this.#queue.add('/track', json)) this.#exposures.forget(properties.assignment_id);
  }

  /** Assigns a variant and records the exposure. */
  choice(key: string, variants: readonly string[], options: ChoiceOptions): string {
    const assignment = this.assign(key, variants, options);
    this.expose(assignment);
    return assignment.variant_key;
  }

  /** Resolves when everything queued so far is delivered or dropped. */
  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Flushes for at most ten seconds. Later calls are dropped and reported to `onError`. */
  close(): Promise<void> {
    return this.#queue.close(CLOSE_TIMEOUT_MS);
  }
}

function toEventJson(event: TrackedEvent): string {
  if (typeof event?.event_type !== 'string' || event.event_type === '') {
    throw new TypeError('an event needs an event_type');
  }
  return toJson({
    ...withIdsAsText({ ...event, insert_id: event.insert_id || randomId() }),
    time: event.time || new Date(),
    library: `service-node/${VERSION}`,
  });
}

/** A bigint becomes text, as in ids. Throws a TypeError for an object that contains itself. */
const toJson = (body: object): string =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));

/**
 * Untyped callers may pass numbers. A number beyond 2^53 stays a number, which the service rejects:
 * as text it could be another person's id.
 */
function withIdsAsText<Body extends object>(body: Body): Body {
  const ids: Record<string, string> = {};
  for (const field of ID_FIELDS) {
    const id: unknown = (body as Record<string, unknown>)[field];
    if (typeof id === 'bigint' || (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER))
      ids[field] = `${id}`;
  }
  return { ...body, ...ids };
}
