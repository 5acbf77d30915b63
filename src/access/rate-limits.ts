// Rate limits of requests (window-limiter.ts). A request counts for several subjects, from its key
// to the person who created the organization, so that creating more tokens, projects or
// organizations does not raise the limit.
import { type RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../platform/config.js';
import { PublicError } from '../platform/errors.js';
import { BatchedMeter } from '../platform/flow/batched-meter.js';
import { createWindowLimiter } from '../platform/flow/window-limiter.js';
import type { Redis } from '../platform/redis/client.js';

export interface RateLimit {
  /** Rejects with rate_limited when the limit of `key` is used up. */
  take(key: string): Promise<void>;
}

type Subject =
  | 'key'
  | 'session'
  | 'project'
  | 'person'
  | 'organization'
  | 'address'
  | 'personAndAddress'
  | 'installation';

/** The subjects that a request counts for: an id for each. */
export type RateSubjects = Readonly<Partial<Record<Subject, string>>>;

export interface LayeredRateLimit {
  /** Rejects with rate_limited when the limit of one of the subjects is used up. */
  take(subjects: RateSubjects): Promise<void>;
}

export interface BatchedRateLimit {
  /**
   * Throws rate_limited when the limit of one of the subjects is known to be used up. Never waits.
   */
  take(subjects: RateSubjects): void;
}

export interface RateLimits {
  readonly track: BatchedRateLimit;
  readonly identify: LayeredRateLimit;
  readonly query: LayeredRateLimit;
  readonly session: LayeredRateLimit;
  readonly signIn: RateLimit;
  readonly invitation: LayeredRateLimit;
  readonly invitationMail: LayeredRateLimit;
  readonly erasure: LayeredRateLimit;
  readonly export: LayeredRateLimit;
  readonly privacyRead: LayeredRateLimit;
  readonly demo: LayeredRateLimit;
}

type Settings = Pick<
  Config,
  | 'TRACK_REQUESTS_PER_SECOND'
  | 'IDENTIFY_REQUESTS_PER_SECOND'
  | 'QUERY_REQUESTS_PER_SECOND'
  | 'SESSION_REQUESTS_PER_SECOND'
  | 'RATE_LIMIT_PROJECT_FACTOR'
  | 'RATE_LIMIT_PERSON_FACTOR'
  | 'SIGN_IN_REQUESTS_PER_MINUTE'
  | 'INVITATIONS_PER_DAY_MAX'
  | 'INVITATIONS_PER_PERSON_PER_DAY_MAX'
  | 'INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX'
  | 'INVITATION_MAILS_PER_DAY_MAX'
  | 'ERASURES_PER_MINUTE'
  | 'EXPORTS_PER_MINUTE'
  | 'PRIVACY_READS_PER_MINUTE'
  | 'DEMOS_PER_DAY_MAX'
>;

const DAY_SECONDS = 86_400;

type Points = Readonly<Partial<Record<Subject, number>>>;

export function createRateLimits(settings: Settings, redis: Redis): RateLimits {
  const layersOf = (name: string, seconds: Seconds, points: Points): Layer[] =>
    Object.entries(points).map(([subject, max]) => ({
      subject: subject as Subject,
      limiter: createWindowLimiter(redis, {
        ...{ name: `${name}:${subject}`, points: max, seconds },
        inMemoryAbove: max,
      }),
    }));
  const { RATE_LIMIT_PROJECT_FACTOR: projectFactor, RATE_LIMIT_PERSON_FACTOR: personFactor } = settings;
  const ofKeys = (name: string, points: number, duration: Seconds = 1): Layer[] =>
    layersOf(name, duration, { key: points, project: points * projectFactor, person: points * personFactor });
  const sessions = settings.SESSION_REQUESTS_PER_SECOND;
  const signIn = layersOf('sign-in', 60, { address: settings.SIGN_IN_REQUESTS_PER_MINUTE });
  return {
    track: new BatchedLimit(ofKeys('track', settings.TRACK_REQUESTS_PER_SECOND)),
    identify: toLayeredLimit(ofKeys('identify', settings.IDENTIFY_REQUESTS_PER_SECOND)),
    query: toLayeredLimit(ofKeys('query', settings.QUERY_REQUESTS_PER_SECOND)),
    session: toLayeredLimit(
      layersOf('session', 1, { session: sessions, key: sessions, person: sessions * personFactor }),
    ),
    signIn: { take: (address) => toLayeredLimit(signIn).take({ address }) },
    invitation: toLayeredLimit(
      layersOf('invitation', DAY_SECONDS, {
        organization: settings.INVITATIONS_PER_DAY_MAX,
        person: settings.INVITATIONS_PER_PERSON_PER_DAY_MAX,
      }),
    ),
    invitationMail: toLayeredLimit(
      layersOf('invitation-mail', DAY_SECONDS, {
        // Half, so that others can still invite the address.
        personAndAddress: Math.ceil(settings.INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX / 2),
        address: settings.INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX,
        installation: settings.INVITATION_MAILS_PER_DAY_MAX,
      }),
    ),
    erasure: toLayeredLimit(ofKeys('erasure', settings.ERASURES_PER_MINUTE, 60)),
    export: toLayeredLimit(ofKeys('export', settings.EXPORTS_PER_MINUTE, 60)),
    demo: toLayeredLimit(
      layersOf('demo', DAY_SECONDS, {
        organization: settings.DEMOS_PER_DAY_MAX,
        person: settings.DEMOS_PER_DAY_MAX * personFactor,
      }),
    ),
    privacyRead: toLayeredLimit(ofKeys('privacy-read', settings.PRIVACY_READS_PER_MINUTE, 60)),
  };
}

type Seconds = keyof typeof NAME_OF_SECONDS;

interface Layer {
  readonly subject: Subject;
  readonly limiter: RateLimiterRedis;
}

const NAME_OF_SUBJECT: Readonly<Record<Subject, string>> = {
  key: 'a key',
  session: 'a session',
  project: 'a project',
  person: 'all that one person has',
  organization: 'an organization',
  address: 'an address',
  personAndAddress: 'an address from all that one person has',
  installation: 'this installation',
};

const NAME_OF_SECONDS = { 1: 'second', 60: 'minute', 86400: 'day' } as const;

const refusal = ({ subject, limiter }: Layer): PublicError =>
  new PublicError(
    'rate_limited',
    `too many requests; the limit is ${describeLimit(subject, limiter.points, limiter.duration as Seconds)}`,
  );

export const describeLimit = (subject: Subject, points: number, seconds: Seconds): string =>
  `${points} per ${NAME_OF_SECONDS[seconds]} for ${NAME_OF_SUBJECT[subject]}`;

/**
 * The narrowest limit first, one after the other: requests rejected for a key must not use up the
 * limit of its project, otherwise one key could block all others.
 */
const toLayeredLimit = (layers: readonly Layer[]): LayeredRateLimit => ({
  async take(subjects) {
    for (const layer of layers) {
      const id = subjects[layer.subject];
      if (id !== undefined) await consume(layer, id);
    }
  },
});

async function consume(layer: Layer, id: string): Promise<void> {
  try {
    await layer.limiter.consume(id);
  } catch (reason) {
    throw reason instanceof RateLimiterRes ? refusal(layer) : reason;
  }
}

/** Layers of `BatchedMeter`: requests do not wait for Redis. */
class BatchedLimit implements BatchedRateLimit {
  readonly #layers: readonly { readonly layer: Layer; readonly meter: BatchedMeter }[];

  constructor(layers: readonly Layer[]) {
    this.#layers = layers.map((layer) => ({ layer, meter: new BatchedMeter(layer.limiter) }));
  }

  take(subjects: RateSubjects): void {
    for (const { layer, meter } of this.#layers) {
      const id = subjects[layer.subject];
      if (id === undefined) continue;
      if (meter.isExceeded(id)) throw refusal(layer);
      meter.add(id, 1);
    }
  }
}
