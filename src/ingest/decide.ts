// Decides about the body of a /track request: parses and validates it, in the event loop when it is
// small and in a worker thread when it is large. Parsing and validating a few megabytes of JSON can
// take a second, whichever limit the body is then found to exceed.
import type { Credential } from '../access/credentials.js';
import { PublicError, type PublicErrorKind } from '../platform/errors.js';
import type { PlainRequest } from '../platform/http/plain-request.js';
import { requestIdOf } from '../platform/http/request-id.js';
import { isPeerTrusted } from '../platform/http/trusted-peer.js';
import { readList, writeList } from '../platform/threads/list-texts.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type AcceptedRequest, acceptRequest, type TrackCredential, type TrackRequest } from './accept.js';
import { parseTrackBody } from './body.js';
import { tryParseAddress } from './client-fields.js';
import type { CompiledRules } from './drop/compiled-rules.js';
import type { Dropped } from './drop/rules.js';
import { createGeographyLookup, type Geography, type GeographyLookup, withDatabases } from './enrich/geography.js';
import type { EnvelopeHeader } from './envelope.js';
import { type EventLimits, isParsedInLoop } from './limits.js';
import { type ForeignBody, type ProfileChange, type Translated, translate } from './protocols/translate.js';
import type { RejectedEvent } from './rejected/events.js';
import { toSample } from './rejected/sample.js';
import { SAMPLES_KEPT } from './rejected/store.js';

export interface DecideDeps extends AcceptDeps {
  /** Paths of the databases behind findGeography, for threads. */
  readonly geographyDatabases: readonly string[];
  /** Whether `findGeography` reads headers; checking whether a peer is trusted has a cost. */
  readonly hasProxyHeaders: boolean;
  /** Where large bodies are parsed. */
  readonly threads: ThreadPool;
}

interface AcceptDeps {
  readonly limits: EventLimits & { readonly batchSizeMax: number };
  readonly findGeography: GeographyLookup;
}

/** What was decided; with what a body of another protocol holds beside its events. */
export type Decided = AcceptedRequest & { readonly translated?: Translated };

/**
 * Rejects with bad_request for bytes that are not a batch, and for a batch of too many events; in
 * another protocol with too_large for the latter. The caller can no longer read the bytes
 * afterwards, except those of another protocol: they may have been moved.
 */
export async function decide(
  {
    req,
    credential,
    ...received
  }: {
    readonly req: PlainRequest;
    readonly credential: Credential;
    readonly bytes: Buffer;
    readonly foreign?: ForeignBody;
  },
  deps: DecideDeps,
): Promise<Decided> {
  const proxyHeaders = deps.hasProxyHeaders && isPeerTrusted(req) ? req.headers : {};
  const { headers, ip: address } = req;
  const { bytes } = received;
  const request = { ...received, credential, id: requestIdOf(req), address, headers, proxyHeaders, now: Date.now() };
  if (!isParsedInLoop(bytes)) return acceptInThread(request, deps);
  if (credential.rules === undefined) return withDatabases(() => acceptBody(request, deps));
  const { compiledRules, isDecidedInLoop } = await loadRules();
  const rules = compiledRules(credential.projectId, credential.rules);
  const body = {
    bytes: bytes.length,
    userAgentLength: headers['user-agent']?.length ?? 0,
    mayOverrideClient: credential.kind === 'secret',
  };
  return isDecidedInLoop(rules.cost, body)
    ? withDatabases(() => acceptBody(request, { ...deps, rules }))
    : acceptInThread(request, deps);
}

/** With the library for regular expressions, which most processes never need. */
const loadRules = () => import('./drop/compiled-rules.js');

type BodyDeps = AcceptDeps & { readonly rules?: CompiledRules };

/** A request with its bytes as received. */
type ReceivedRequest = Omit<TrackRequest, 'body' | 'bytes'> & {
  readonly bytes: Buffer;
  readonly foreign?: ForeignBody;
};

function acceptBody({ foreign, ...request }: ReceivedRequest, deps: BodyDeps): Decided {
  if (foreign !== undefined) {
    const { events, records, ...translated } = translate(foreign, request, deps.limits);
    // SDKs of Amplitude and PostHog make smaller batches after this status only.
    requireBatchSize(records, deps, 'too_large');
    return { ...acceptRequest({ ...request, bytes: undefined, body: { events, batch: undefined } }, deps), translated };
  }
  // Every content type is read as JSON: a beacon cannot choose its own, and curl sends a form's by
  // default.
  const body = parseTrackBody(request.bytes);
  requireBatchSize(body.events.length, deps);
  return acceptRequest({ ...request, body }, deps);
}

function requireBatchSize(
  events: number,
  { limits: { batchSizeMax } }: AcceptDeps,
  kind: PublicErrorKind = 'bad_request',
): void {
  if (events > batchSizeMax) {
    throw new PublicError(kind, `the batch has ${events} events; the limit is ${batchSizeMax}`);
  }
}

async function acceptInThread(
  { credential, headers, proxyHeaders, foreign, ...request }: ReceivedRequest,
  { threads, findGeography, geographyDatabases, limits }: DecideDeps,
): Promise<Decided> {
  const { kind, projectId, ipPolicy, rules, shard } = credential;
  const input = {
    ...request,
    ...(foreign !== undefined && { foreign: { ...foreign, parsed: undefined } }),
    credential: {
      ...{ kind, projectId, ipPolicy },
      ...(rules !== undefined && { rules }),
      ...(shard !== undefined && { shard }),
    },
    userAgent: headers['user-agent'],
    geography: await withDatabases(() => findGeography(tryParseAddress(request.address), proxyHeaders)),
    databases: geographyDatabases,
    limits,
  };
  const { header, body, translated, ...accepted } = await threads.run(acceptTask, input, projectId);
  return {
    ...accepted,
    envelope: { header, body: asBuffer(body) },
    ...(translated && { translated: { ...translated, calls: await readList<ProfileChange>(translated.callTexts) } }),
  };
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

/** Its buffer, unless others have parts of it. */
const ownBufferOf = ({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];

type ThreadRequest = Omit<TrackRequest, 'body' | 'bytes' | 'credential' | 'headers' | 'proxyHeaders'> & {
  readonly bytes: Uint8Array;
  readonly credential: TrackCredential;
  readonly foreign?: ForeignBody;
  readonly userAgent: string | undefined;
  /** Geography of the client's address. */
  readonly geography: Geography;
  /** Paths of the geography databases, for events with an address of their own. */
  readonly databases: readonly string[];
  readonly limits: AcceptDeps['limits'];
};

interface ThreadAnswer {
  readonly header: EnvelopeHeader;
  readonly body: Uint8Array;
  readonly rejected: readonly RejectedEvent[];
  readonly ignoredFields: readonly string[];
  readonly dropped: Dropped;
  readonly eventsWithoutTime: ReadonlyMap<number, string>;
  readonly translated?: Omit<Translated, 'calls'> & { readonly callTexts: readonly string[] };
}

export const acceptTask: ThreadTask<ThreadRequest, ThreadAnswer> = {
  module: import.meta.url,
  name: 'acceptTask',
  run: async ({ bytes: received, userAgent, geography, databases, limits, ...request }) => {
    const bytes = asBuffer(received);
    const headers = { 'user-agent': userAgent };
    const findGeography: GeographyLookup = (address, of) =>
      of === headers ? geography : lookupIn(databases)(address, of);
    const { projectId, rules: written } = request.credential;
    const rules = written && (await loadRules()).compiledRules(projectId, written);
    const { envelope, rejected, translated, ...accepted } = acceptBody(
      { ...request, bytes, headers, proxyHeaders: headers },
      { limits, findGeography, ...(rules !== undefined && { rules }) },
    );
    return {
      ...accepted,
      ...envelope,
      rejected: rejected.map(toShown),
      ...(translated && { translated: withTexts(translated) }),
    };
  },
  // Without a copy in either direction. The routes of other protocols read their bytes again.
  buffersOfInput: ({ bytes, foreign }) => (foreign === undefined ? ownBufferOf(bytes) : []),
  buffersOfOutput: ({ body }) => ownBufferOf(body),
  tooCostly: 'the batch takes more than {limit} to read; send fewer events at a time, with fewer properties',
};

const withTexts = ({ calls, ...translated }: Translated) => ({ ...translated, callTexts: writeList(calls) });

/** Events may be of any size, and only samples of the first few are kept. */
const toShown = ({ reason, event }: RejectedEvent, index: number): RejectedEvent =>
  index < SAMPLES_KEPT ? { reason, event: undefined, sample: toSample(event) } : { reason, event: undefined };

let opened: { readonly databases: string; readonly find: GeographyLookup } | undefined;

/**
 * A thread opens the databases when the first event needs one, because each is tens of megabytes.
 */
function lookupIn(paths: readonly string[]): GeographyLookup {
  const databases = paths.join();
  if (opened?.databases !== databases) {
    opened = { databases, find: createGeographyLookup({ databases: paths, headerNames: {} }) };
  }
  return opened.find;
}
