// GET /api/projects/{projectID}/live: the newest events and rejected ones as server-sent events. A
// connection ends after two minutes, and the browser opens the next one, which checks the session
// and the membership again.
import type { Response, Router } from 'express';
import { z } from 'zod';
import { createGuardedRouter, type GuardDeps, projectIdOf, projectOwnerIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { OpenLimit } from '../platform/flow/open-limit.js';
import { parseFields } from '../platform/http/json-body.js';
import { type FeedSource, LiveFeeds, type Message } from './feed.js';

const SECONDS_MAX = 120;
const RETRY_MS = 1000;
/** A reader that does not take this much is disconnected. */
const WAITING_BYTES_MAX = 1024 * 1024;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

const secondsField = z.coerce
  .number()
  .int()
  .min(1)
  .max(SECONDS_MAX, { error: `is at most ${SECONDS_MAX}` });
export const liveQuery = z.object({ seconds: secondsField.optional() });

export interface LiveDeps extends GuardDeps {
  readonly source: FeedSource;
  /** Connections that may be open at once in this process. */
  readonly openMax: number;
}

export interface Live {
  readonly router: Router;
  /** Ends all connections. */
  close(): Promise<void>;
}

export function createLive(deps: LiveDeps): Live {
  const { router, on } = createGuardedRouter(deps);
  const feeds = new LiveFeeds(deps.source);
  const admission = new OpenLimit('live views', deps.openMax);
  const open = new Set<Response>();

  on('GET /api/projects/{projectID}/live', async (req, res) => {
    const { seconds = SECONDS_MAX } = parseFields(liveQuery, req.query);
    const projectId = projectIdOf(res);
    // A client that has left meanwhile gets no `close` any more.
    if (res.destroyed) return;
    if (req.method === 'HEAD') {
      res.writeHead(200, HEADERS).end();
      return;
    }
    const leave = admission.open({ projectId, ownerId: projectOwnerIdOf(res) });
    res.writeHead(200, HEADERS);
    res.write(`retry: ${RETRY_MS}\n\n`);
    open.add(res);
    const stop = feeds.watch({ projectId, personId: personOf(res).personId }, (message) => send(res, message));
    const timer = setTimeout(() => res.end(), seconds * 1000);
    res.once('close', () => {
      clearTimeout(timer);
      stop();
      leave();
      open.delete(res);
    });
  });

  return {
    router,
    close: async () => {
      for (const res of open) res.end();
    },
  };
}

function send(res: Response, { kind, data }: Message): void {
  if (res.writableEnded) return;
  if (res.writableLength > WAITING_BYTES_MAX) res.destroy();
  else res.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}
