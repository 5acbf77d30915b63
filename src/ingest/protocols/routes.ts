// Routes of the protocols of other SDKs (table.ts). A request takes the steps of /track, and its
// identify calls those of /identify. Events are committed first: a repeated request finds them as
// duplicates, and has not changed a profile yet when they were refused.
import type { Router } from 'express';
import { type Credential, rateSubjectsOf } from '../../access/credentials.js';
import { authenticate, authenticateKey, hasKey } from '../../access/middleware.js';
import type { LayeredRateLimit } from '../../access/rate-limits.js';
import { toExpressPath } from '../../access/route-matrix.js';
import type { CommitDeps } from '../../identity/commit.js';
import { NoSuchRoute, PublicError } from '../../platform/errors.js';
import { countRefusals } from '../../platform/flow/refusal.js';
import { allowAnyOrigin } from '../../platform/http/cross-origin.js';
import type { PlainRequest } from '../../platform/http/plain-request.js';
import { createBodyReader, type WithBody } from '../../platform/http/read-body.js';
import type { ErrorLocals } from '../../platform/http/respond.js';
import { createRouter } from '../../platform/http/router.js';
import type { FrontRoute } from '../front.js';
import { throwFailure } from '../front-failures.js';
import { isParsedInLoop } from '../limits.js';
import type { IngestDeps } from '../routes.js';
import { admit, awaitTurn, type Counted, decideAndCount, enqueue, requireQuota, settleTimes } from '../steps.js';
import { commitCalls } from './commit-calls.js';
import { identifySenderTask } from './identify-sender.js';
import { PROTOCOL_PATHS } from './paths.js';
import type { Counts, Protocol } from './protocol.js';
import { PROTOCOLS } from './table.js';
import { parseForeign } from './translate.js';

export interface ProtocolDeps {
  readonly ingest: IngestDeps;
  readonly identity: CommitDeps & { readonly rateLimit: LayeredRateLimit };
}

export function createProtocolsRouter(deps: ProtocolDeps): Router {
  const { metrics, refused } = deps.ingest;
  const router = createRouter();
  const sentTo = PROTOCOL_PATHS.flatMap(({ method, path }) => (method === 'POST' ? [toExpressPath(path)] : []));
  router.options(sentTo, (_req, res) => {
    allowAnyOrigin(res);
    res.set(PREFLIGHT).status(204).end();
  });
  // Before the ways, whose parameters would match their paths.
  for (const { name, mountOthers } of PROTOCOLS) {
    mountOthers?.(router, (reason) => metrics.skippedCalls.inc({ protocol: name, reason }));
  }
  for (const { path, ...way } of createWays(deps)) {
    router.post(path, async (req, res) => {
      allowAnyOrigin(res);
      throwFailure(req);
      const call = typeof req.params.call === 'string' ? req.params.call : lastSegmentOf(req.path);
      const body = await answer({ req, call, errors: res.locals }, way, deps);
      res.setHeader('Content-Type', 'application/json; charset=utf-8');
      res.end(body);
    });
  }
  router.use(countRefusals(refused, 'sdk'));
  return router;
}

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Authorization, *',
  'Access-Control-Max-Age': '86400',
};

/** The same routes in front of the router, by each of their paths. */
export const createProtocolFronts = (deps: ProtocolDeps): readonly FrontRoute[] =>
  createWays(deps).flatMap(({ path: pattern, ...way }) =>
    expand(pattern, way.protocols).map((path): FrontRoute => {
      const call = lastSegmentOf(path);
      // Browsers send a query.
      return { path, pattern, takesQuery: true, answer: (req, errors) => answer({ req, call, errors }, way, deps) };
    }),
  );

const expand = (pattern: string, protocols: readonly Protocol[]): readonly string[] =>
  pattern.includes(':') ? (protocols[0]?.calls ?? []).map((call) => pattern.replace(':call', call)) : [pattern];

function createWays({ ingest: { body } }: ProtocolDeps): readonly (Way & { readonly path: string })[] {
  // Content types and encodings of the SDKs are not always true.
  const withBody = createBodyReader(body, { findsGzip: true });
  return [...new Set(PROTOCOLS.flatMap(({ paths }) => paths))].map((path) => ({
    ...{ path, withBody },
    protocols: PROTOCOLS.filter(({ paths }) => paths.includes(path)),
  }));
}

interface Way {
  /** Protocols of the path. */
  readonly protocols: readonly Protocol[];
  readonly withBody: WithBody;
}

interface Asked {
  readonly req: PlainRequest;
  /** Last segment of the path. */
  readonly call: string;
  /** Is told the form of errors, which the protocol decides. */
  readonly errors: ErrorLocals;
}

/** The way of a request; a step that throws ends it. Resolves with the body of the answer. */
async function answer({ req, call, errors }: Asked, way: Way, deps: ProtocolDeps): Promise<string> {
  const [first] = way.protocols;
  if (first === undefined || first.calls?.includes(call) === false) {
    throw new NoSuchRoute();
  }
  answerErrorsAs(first, errors);
  const key = first.findHeadKey?.(req.headers);
  const early = key === undefined && !hasKey(req) ? undefined : await admitSender(req, key, deps); // 401, 403, 429
  // Until the key is known, the bytes in flight are those of the address.
  const owner = early?.projectId ?? `address ${req.ip}`;
  const { protocol, counts } = await way.withBody(req, owner, async (bytes) => {
    // 400, 413, 429
    await awaitTurn(early?.projectId ?? owner, bytes, deps.ingest);
    // Nothing to find where the path and the head have said both, so a large body is parsed once.
    const isKnown = early !== undefined && way.protocols.length === 1;
    const sent = isKnown
      ? { protocol: first, key }
      : await identifySender(bytes, { protocols: way.protocols, owner }, deps);
    answerErrorsAs(sent.protocol, errors);
    const credential = early ?? (await admitSender(req, sent.key ?? '', deps));
    const head = sent.protocol.readHead?.(req.headers, req.url);
    const foreign = {
      ...{ protocol: sent.protocol.name, call },
      ...(head !== undefined && { head }),
      ...('parsed' in sent && { parsed: sent.parsed }),
    };
    const counted = await decideAndCount({ req, credential, bytes, foreign }, deps.ingest); // 400, 429
    for (const [reason, calls] of counted.translated?.skipped ?? []) {
      deps.ingest.metrics.skippedCalls.inc({ protocol: sent.protocol.name, reason }, calls);
    }
    return { protocol: sent.protocol, counts: await commit({ req, credential, bytes }, counted, deps) }; // 429, 503
  });
  return JSON.stringify(protocol.answer(counts, call));
}

const lastSegmentOf = (path: string): string => /([^/]*)\/?$/.exec(path)?.[1] ?? '';

function answerErrorsAs({ refuse, busyStatus }: Protocol, errors: ErrorLocals): void {
  errors.toErrorBody = refuse;
  errors.busyStatus = busyStatus;
}

/** Without a key of the protocol: that of `X-API-Key` or `?key=`. */
async function admitSender(req: PlainRequest, key: string | undefined, { ingest }: ProtocolDeps): Promise<Credential> {
  const credential =
    key === undefined
      ? await authenticate(ingest.credentials, 'track', req)
      : await authenticateKey(ingest.credentials, 'track', key);
  if (credential.refusesOtherSdks === true) {
    throw new PublicError('forbidden', 'the project does not accept SDKs of other products ("other_sdks")');
  }
  ingest.rateLimit.take(rateSubjectsOf(credential));
  requireQuota(credential);
  admit(credential, ingest);
  return credential;
}

interface Sender {
  readonly protocol: Protocol;
  readonly key: string | undefined;
  /** The parsed body, unless a thread parsed it. */
  readonly parsed?: unknown;
}

/** Finds the protocol of a shared path, and the key in the body. */
async function identifySender(
  bytes: Buffer,
  { protocols, owner }: { readonly protocols: readonly Protocol[]; readonly owner: string },
  { ingest }: ProtocolDeps,
): Promise<Sender> {
  const [first] = protocols;
  if (first === undefined) throw new Error('a path has no protocol');
  if (!isParsedInLoop(bytes)) {
    const input = { bytes, protocols: protocols.map(({ name }) => name) };
    const { protocol: name, key } = await ingest.threads.run(identifySenderTask, input, owner);
    return { protocol: protocols.find((each) => each.name === name) ?? first, key };
  }
  const parsed = parseForeign(first.name, bytes);
  const protocol = protocols.find(({ owns }) => owns?.(parsed)) ?? first;
  return { protocol, key: protocol.findKey(parsed), parsed };
}

interface Accepted {
  readonly req: PlainRequest;
  readonly credential: Credential;
  readonly bytes: Buffer;
}

async function commit(accepted: Accepted, counted: Counted, deps: ProtocolDeps): Promise<Counts> {
  const { envelope, translated } = counted;
  const { n: events, t: now } = envelope.header;
  const calls = translated?.calls ?? [];
  // Before anything is stored, so that a refused request is repeated as a whole.
  if (calls.length > 0) {
    await deps.identity.rateLimit.take(rateSubjectsOf(accepted.credential));
    deps.identity.admission.admit(accepted.credential.projectId);
  }
  if (events > 0) await enqueue(await settleTimes(counted, deps.ingest), deps.ingest);
  if (calls.length > 0) await commitCalls(deps, { ...accepted, calls, now });
  const changes = calls.filter(({ isExtra }) => isExtra !== true);
  return { accepted: events + changes.length, bytes: accepted.bytes.length, now };
}
