// Steps of the acceptance of events, shared by /track and the routes of other SDKs: quota,
// admission, decisions, times, and the commit to Redis.
import type { Credential } from '../access/credentials.js';
import { PublicError } from '../platform/errors.js';
import type { Admission } from '../platform/flow/admission.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { GroupCommit } from '../platform/flow/group-commit.js';
import type { ProjectRates } from '../platform/flow/project-rates.js';
import type { Turns } from '../platform/flow/turns.js';
import type { PlainRequest } from '../platform/http/plain-request.js';
import type { Redis } from '../platform/redis/client.js';
import { type DecideDeps, type Decided, decide } from './decide.js';
import type { DroppedEvents } from './drop/counts.js';
import type { Envelope } from './envelope.js';
import { type FirstTimesLimits, settleFirstSeenTimes } from './first-seen-times.js';
import { isParsedInLoop } from './limits.js';
import type { IngestMetrics } from './metrics.js';
import { ownerOfShard, weigh } from './payloads.js';
import type { ForeignBody } from './protocols/translate.js';
import { toCommitKey } from './queue.js';
import type { RejectedEvents } from './rejected/events.js';

export interface StepDeps extends DecideDeps {
  readonly admission: Admission;
  readonly rates: ProjectRates;
  /** Fair scheduling of larger bodies that are parsed in the event loop. */
  readonly turns: Turns;
  /** Resolves with the id of the job that holds the events. */
  readonly groupCommit: GroupCommit<Envelope, string>;
  readonly redis: Redis;
  readonly firstTimes: FirstTimesLimits;
  readonly rejectedEvents: RejectedEvents;
  readonly droppedEvents: DroppedEvents;
  readonly metrics: IngestMetrics;
}

/** A request whose body was read. */
export interface Received {
  readonly req: PlainRequest;
  readonly credential: Credential;
  readonly bytes: Buffer;
  /** A body of another protocol than /track. */
  readonly foreign?: ForeignBody;
}

/** What was decided about a request, with the number of events that rules dropped. */
export type Counted = Omit<Decided, 'rejected' | 'ignoredFields' | 'dropped'> & { readonly dropped: number };

const NONE_COMPUTED: ReadonlyMap<number, number> = new Map();

/** Throws forbidden when the organization has used its monthly quota. */
export function requireQuota(credential: Credential): void {
  if (credential.isOverAllowance) throw new PublicError('forbidden', 'monthly event quota exceeded');
}

/** Throws rate_limited when too much is waiting, or the project exceeds its rates. */
export function admit({ projectId, shard }: Credential, { admission, rates }: StepDeps): void {
  admission.admit(projectId, shard === undefined ? undefined : ownerOfShard(shard));
  rates.admit(projectId);
}

/**
 * Larger bodies that are parsed in the event loop take turns, by project, or by address before the
 * project is known.
 */
export async function awaitTurn(projectId: string, bytes: Buffer, { turns, rates }: StepDeps): Promise<void> {
  if (bytes.length >= BOUNDS.turnBodyBytes && isParsedInLoop(bytes)) await turns.enter(projectId);
  // Other requests of the project may have reached its limit in the meantime; then parsing is
  // avoided.
  rates.admit(projectId);
}

/**
 * A function of its own, so that the parsed body, many times the size of its bytes, can be
 * collected while the commit is pending.
 */
export async function decideAndCount(tracked: Received, deps: StepDeps): Promise<Counted> {
  const { projectId } = tracked.credential;
  const bytes = tracked.bytes.length;
  const { rejected, ignoredFields, dropped: byRule, ...decided } = await decide(tracked, deps);
  const { envelope, translated } = decided;
  const dropped = [...byRule.values()].reduce((sum, events) => sum + events, 0);
  const events = envelope.header.n + rejected.length + dropped + (translated?.calls.length ?? 0);
  deps.rates.take(projectId, { bytes, events });
  deps.droppedEvents.note(projectId, byRule);
  for (const { reason } of rejected) deps.metrics.skipped.inc({ reason });
  deps.rejectedEvents.note(projectId, rejected, envelope.header.t);
  deps.rejectedEvents.noteIgnored(projectId, '/track', ignoredFields, envelope.header.t);
  return { ...decided, dropped };
}

/**
 * An event without a time gets that of its first delivery, so that a repeated one is a duplicate. A
 * time that was computed from the moment of the delivery is kept likewise.
 */
export async function settleTimes(
  { envelope, eventsWithoutTime, translated }: Counted,
  { redis, firstTimes }: Pick<StepDeps, 'redis' | 'firstTimes'>,
): Promise<Envelope> {
  const computed = translated?.times ?? NONE_COMPUTED;
  if (eventsWithoutTime.size === 0 && computed.size === 0) return envelope;
  const { header, body } = envelope;
  const positions = [...eventsWithoutTime.keys()];
  const settled = {
    projectId: header.p,
    insertIds: [...eventsWithoutTime.values()],
    times: positions.map((position) => computed.get(position) ?? header.t),
    now: header.t,
  };
  const times = await settleFirstSeenTimes(redis, settled, firstTimes);
  // Times of events without an insert id, which no delivery repeats, come first.
  const first: Record<string, number> = Object.fromEntries(computed);
  positions.forEach((position, index) => {
    const time = times[index];
    if (time !== undefined && (time !== header.t || computed.has(position))) first[position] = time;
  });
  return Object.keys(first).length === 0 ? envelope : { header: { ...header, first }, body };
}

/** Events that Redis holds, and the job that will insert them. */
export interface Enqueued {
  readonly events: number;
  readonly jobId: string;
}

/** Resolves once Redis holds the events. */
export async function enqueue({ header, body }: Envelope, deps: StepDeps): Promise<Enqueued> {
  const isBulk = deps.admission.isBulk(header.p, weigh(body.length, header.n));
  const key = toCommitKey({ project: isBulk ? header.p : '', shard: header.s });
  const size = { weight: header.n, bytes: body.length, key };
  const jobId = await deps.groupCommit.add({ header, body }, size);
  deps.metrics.accepted.inc(header.n);
  return { events: header.n, jobId };
}
