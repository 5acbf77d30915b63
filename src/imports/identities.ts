// Collects identity links and profile changes of an import in bounded memory and gives the calls of
// /identify/batch at its end: one link per device, the last by time, and the final state of each
// profile.
import { readTimedCall } from '../identity/schema.js';
import { type EventLimits, ID_LENGTH_MAX, isWithinLength } from '../ingest/limits.js';
import { messageOf } from '../platform/errors.js';
import { groupBy } from '../platform/group-by.js';
import { FoldingSorter } from './folding-sorter.js';
import type { Id, Mapped, Properties } from './source.js';

interface Link {
  readonly user: string;
  readonly timeMs: number;
}

interface Profile {
  readonly values: Values;
  /** Last time of a record without properties. */
  readonly emptyMs?: number;
  readonly deletedMs?: number;
}

/** Values by property, each with its time. */
type Values = Record<string, readonly [timeMs: number, value: unknown]>;

/** A call of /identify/batch. */
export interface TimedCall {
  readonly user_id: string;
  readonly device_id?: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly user_properties?: Properties;
}

export interface IdentifyRequest {
  readonly kind: 'link' | 'profile';
  readonly call: TimedCall;
  /** Why the service would refuse it; undefined for a valid one. */
  readonly problem: string | undefined;
}

export interface IdentityOptions {
  readonly limits: EventLimits;
  /**
   * Whether imported properties count as of the start of the import. By default they have the times
   * of their records, and properties that changed since stay.
   */
  readonly overwritesProfiles: boolean;
  /** Start of the import, epoch milliseconds. */
  readonly nowMs: number;
  /** Bytes in memory before a run is written to a file. */
  readonly runBytesMax?: number;
}

/** The oldest time that the service takes. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1);
const VALUE_BYTES = 24;
const WORDS_FOR_NOTHING: ReadonlySet<string> = new Set(['null', 'undefined', 'NaN', '[object Object]']);

export class Identities {
  readonly #links: FoldingSorter<Link>;
  readonly #profiles: FoldingSorter<Profile>;
  readonly #options: IdentityOptions;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#links = new FoldingSorter<Link>(
      {
        combine: (earlier, later) => (later.timeMs < earlier.timeMs ? earlier : later),
        sizeOf: ({ user }) => user.length,
      },
      options.runBytesMax,
    );
    this.#profiles = new FoldingSorter<Profile>(
      { combine: combineProfiles, sizeOf: profileBytes },
      options.runBytesMax,
    );
  }

  addLink({ device, user, timeMs }: Extract<Mapped, { kind: 'link' }>): Promise<void> {
    return this.#links.add(String(device), { user: String(user), timeMs });
  }

  addProfile({ user, timeMs, properties }: Extract<Mapped, { kind: 'profile' }>): Promise<void> {
    const entries = Object.entries(properties).map(([key, value]) => [key, [timeMs, value] as const]);
    const values = Object.fromEntries(entries) as Values;
    return this.#profiles.add(String(user), entries.length === 0 ? { values, emptyMs: timeMs } : { values });
  }

  addDeletion({ user, timeMs }: Extract<Mapped, { kind: 'deletion' }>): Promise<void> {
    return this.#profiles.add(String(user), { values: {}, deletedMs: timeMs });
  }

  /** The calls to make. Their order does not matter: each has its time. */
  async *calls(): AsyncGenerator<IdentifyRequest, void, undefined> {
    for await (const [device, { user, timeMs }] of this.#links.entries()) {
      yield this.#toRequest('link', { user_id: user, device_id: device, time: toTime(timeMs) });
    }
    const { limits, overwritesProfiles, nowMs } = this.#options;
    for await (const [user, profile] of this.#profiles.entries()) {
      const timeOf = (timeMs: number): number => (overwritesProfiles ? nowMs : timeMs);
      const byTime = groupBy(Object.entries(profile.values), ([, [timeMs]]) => timeOf(timeMs));
      const emptyMs = profile.emptyMs === undefined ? undefined : timeOf(profile.emptyMs);
      if (emptyMs !== undefined && !byTime.has(emptyMs)) byTime.set(emptyMs, []);
      for (const [timeMs, values] of byTime) {
        const entries = values.map(([key, [, value]]) => [key, value] as const);
        for (let start = 0; start === 0 || start < entries.length; start += limits.userPropertiesMax) {
          const properties = Object.fromEntries(entries.slice(start, start + limits.userPropertiesMax)) as Properties;
          yield* this.#toProfileRequests({ user_id: user, time: toTime(timeMs) }, properties);
        }
      }
    }
  }

  async close(): Promise<void> {
    await this.#links.close();
    await this.#profiles.close();
  }

  /** A property that would be refused does not cost the others. */
  #toProfileRequests(call: TimedCall, properties: Properties): readonly IdentifyRequest[] {
    const all = this.#toRequest('profile', { ...call, user_properties: properties });
    if (all.problem === undefined) return [all];
    const requests = Object.entries(properties).map(([key, value]) =>
      this.#toRequest('profile', { ...call, user_properties: { [key]: value } }),
    );
    const refused = requests.filter(({ problem }) => problem !== undefined);
    if (refused.length === requests.length) return [all];
    const names = new Set(refused.flatMap(({ call: single }) => Object.keys(single.user_properties ?? {})));
    const kept = Object.fromEntries(Object.entries(properties).filter(([key]) => !names.has(key)));
    return [this.#toRequest('profile', { ...call, user_properties: kept }), ...refused];
  }

  #toRequest(kind: IdentifyRequest['kind'], call: TimedCall): IdentifyRequest {
    return { kind, call, problem: this.#findProblem(call) };
  }

  #findProblem(call: TimedCall): string | undefined {
    try {
      readTimedCall(call, this.#options.limits, this.#options.nowMs);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** Records without a time are the oldest. */
const toTime = (timeMs: number): number => Math.max(TIME_MIN_MS, timeMs);

/** Why an id cannot be that of a device or a user; undefined for one that can. */
export function findIdProblem(id: Id): string | undefined {
  if (typeof id === 'number') return 'an id is a number too large to be read exactly';
  if (WORDS_FOR_NOTHING.has(id)) return `"${id}" is not an id`;
  return isWithinLength(id, ID_LENGTH_MAX) ? undefined : `an id is longer than ${ID_LENGTH_MAX} characters`;
}

function combineProfiles(earlier: Profile, later: Profile): Profile {
  const deletedMs = latest(earlier.deletedMs, later.deletedMs);
  const emptyMs = latest(earlier.emptyMs, later.emptyMs);
  const isKept = (timeMs: number): boolean => deletedMs === undefined || timeMs > deletedMs;
  return {
    values: combineValues(earlier.values, later.values, isKept),
    ...(emptyMs !== undefined && isKept(emptyMs) && { emptyMs }),
    ...(deletedMs !== undefined && { deletedMs }),
  };
}

const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

function combineValues(earlier: Values, later: Values, isKept: (timeMs: number) => boolean): Values {
  const isNewer = ([key, [timeMs]]: [string, Values[string]]): boolean =>
    !Object.hasOwn(earlier, key) || timeMs >= (earlier[key]?.[0] ?? 0);
  const entries = [...Object.entries(earlier), ...Object.entries(later).filter(isNewer)];
  // Not by assignment: a key may be `__proto__`.
  return Object.fromEntries(entries.filter(([, [timeMs]]) => isKept(timeMs)));
}

function profileBytes({ values }: Profile): number {
  let bytes = VALUE_BYTES;
  for (const key in values) {
    const value = values[key]?.[1];
    bytes += VALUE_BYTES + key.length + (typeof value === 'string' ? value.length : VALUE_BYTES);
  }
  return bytes;
}
