// Collects identity links and profile changes of an import in bounded memory and gives the calls of
// /identify at its end: one link per device, the last by time, and the final state of each profile.
import { parseIdentifyBody } from '../identity/schema.js';
import { type EventLimits, ID_LENGTH_MAX, isWithinLength } from '../ingest/limits.js';
import { FoldingSorter } from './folding-sorter.js';
import type { Id, Mapped, Properties } from './source.js';

interface Link {
  readonly user: string;
  readonly timeMs: number;
}

/** Values by property, each with its time. */
type Profile = Record<string, readonly [timeMs: number, value: unknown]>;

export interface IdentifyRequest {
  readonly kind: 'link' | 'profile';
  readonly user: string;
  readonly body: string;
  /** Why the service would refuse it; undefined for a valid one. */
  readonly problem: string | undefined;
}

export interface IdentityOptions {
  readonly limits: EventLimits;
  /**
   * Whether imported properties replace those that the service has. By default they only add
   * properties: what the service has was sent since, and is newer.
   */
  readonly overwritesProfiles: boolean;
  /** Bytes in memory before a run is written to a file. */
  readonly runBytesMax?: number;
}

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
    return this.#profiles.add(String(user), Object.fromEntries(entries) as Profile);
  }

  /** The calls to make. Their order does not matter: each device and each property occurs once. */
  async *requests(): AsyncGenerator<IdentifyRequest, void, undefined> {
    for await (const [device, { user }] of this.#links.entries()) {
      yield this.#toRequest('link', { user_id: user, device_id: device });
    }
    for await (const [user, profile] of this.#profiles.entries()) {
      const entries = Object.entries(profile).map(([key, [, value]]) => [key, value] as const);
      const { userPropertiesMax } = this.#options.limits;
      const operator = this.#options.overwritesProfiles ? '$set' : '$set_once';
      for (let start = 0; start === 0 || start < entries.length; start += userPropertiesMax) {
        const some = Object.fromEntries(entries.slice(start, start + userPropertiesMax)) as Properties;
        yield this.#toRequest('profile', { user_id: user, user_property_ops: { [operator]: some } });
      }
    }
  }

  async close(): Promise<void> {
    await this.#links.close();
    await this.#profiles.close();
  }

  #toRequest(
    kind: IdentifyRequest['kind'],
    call: { readonly user_id: string; readonly device_id?: string; readonly user_property_ops?: Properties },
  ): IdentifyRequest {
    const body = JSON.stringify(call);
    return { kind, user: call.user_id, body, problem: findProblem(body, this.#options.limits) };
  }
}

function findProblem(body: string, limits: EventLimits): string | undefined {
  try {
    parseIdentifyBody(Buffer.from(body), limits);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Why an id cannot be that of a device or a user; undefined for one that can. */
export function findIdProblem(id: Id): string | undefined {
  if (typeof id === 'number') return 'an id is a number too large to be read exactly';
  if (WORDS_FOR_NOTHING.has(id)) return `"${id}" is not an id`;
  return isWithinLength(id, ID_LENGTH_MAX) ? undefined : `an id is longer than ${ID_LENGTH_MAX} characters`;
}

function combineProfiles(earlier: Profile, later: Profile): Profile {
  const isNewer = ([key, [timeMs]]: [string, Profile[string]]): boolean =>
    !Object.hasOwn(earlier, key) || timeMs >= (earlier[key]?.[0] ?? 0);
  // Not by assignment: a key may be `__proto__`.
  return Object.fromEntries([...Object.entries(earlier), ...Object.entries(later).filter(isNewer)]);
}

function profileBytes(profile: Profile): number {
  let bytes = 0;
  for (const key in profile) {
    const value = profile[key]?.[1];
    bytes += VALUE_BYTES + key.length + (typeof value === 'string' ? value.length : VALUE_BYTES);
  }
  return bytes;
}
