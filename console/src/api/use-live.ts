// Hook over the live feed (server-sent events): keeps the newest events and rejected ones of a
// project. EventSource reconnects after a lost connection; after a refused one, this does, unless
// the service says that it would be refused again. A hidden tab has no connection: the service
// would query for it each second, and a browser makes only six to one host.
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { rejected } from '../../../src/ingest/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import { liveTexts } from '../texts/live.js';
import type { Row } from './answer.js';
import { keyOfEvent, mayLack, merged } from './live-rows.js';
import { isPassing, RequestFailed, request } from './request.js';

type Sample = JsonOf<typeof rejected>['samples'][number];

export interface LiveFeed {
  /** Newest first. Undefined until the first message. */
  readonly events: readonly Row[] | undefined;
  readonly rejected: readonly Sample[];
  /** The newest event when more may have come than are listed. */
  readonly gapAt: Row | undefined;
  readonly problem: string | undefined;
}

const RETRY_MS = 5000;
const EMPTY: LiveFeed = { events: undefined, rejected: [], gapAt: undefined, problem: undefined };

function onVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}

export function useLive(projectId: string, isOn: boolean): LiveFeed {
  const [feed, setFeed] = useState<LiveFeed>(EMPTY);
  const [attempt, setAttempt] = useState(0);
  const isVisible = useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible');
  useEffect(() => {
    if (!isOn || !isVisible) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = new AbortController();
    const path = `/api/projects/${projectId}/live`;
    const source = new EventSource(path);
    const listen = <T>(kind: string, take: (data: T, before: LiveFeed) => LiveFeed): void =>
      source.addEventListener(kind, (event) => {
        const data = JSON.parse((event as MessageEvent<string>).data) as T;
        setFeed((before) => take(data, before));
      });
    listen<readonly Row[]>('events', (rows, before) => ({
      ...before,
      problem: undefined,
      events: merged(rows, before.events ?? [], keyOfEvent),
      // Also after a time without a connection.
      ...(mayLack(rows, before.events ?? []) && { gapAt: rows[0] }),
    }));
    listen('gap', (_, before) => ({ ...before, gapAt: before.events?.[0] }));
    listen<readonly Sample[]>('rejected', (samples, before) => ({
      ...before,
      rejected: merged(samples, before.rejected, (sample) => JSON.stringify(sample)),
    }));
    listen<{ error: string }>('problem', ({ error }, before) => ({ ...before, problem: error }));
    source.addEventListener('open', () => setFeed((before) => ({ ...before, problem: undefined })));
    source.addEventListener('error', () => {
      setFeed((before) => ({ ...before, problem: liveTexts.disconnected }));
      if (source.readyState === EventSource.CLOSED) void retry();
    });
    // An EventSource does not say why it was refused.
    const retry = async (): Promise<void> => {
      try {
        await (await request(`${path}?seconds=1`, { signal: abort.signal })).body?.cancel();
      } catch (error) {
        if (error instanceof RequestFailed && !isPassing(error)) {
          setFeed((before) => ({ ...before, problem: liveTexts.refused(error.message) }));
          return;
        }
      }
      if (!abort.signal.aborted) timer = setTimeout(() => setAttempt(attempt + 1), RETRY_MS);
    };
    return () => {
      abort.abort();
      clearTimeout(timer);
      source.close();
    };
  }, [projectId, isOn, isVisible, attempt]);
  return feed;
}
