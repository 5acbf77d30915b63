// Hook over the live feed (server-sent events): keeps the newest events and rejected ones of a
// project. EventSource reconnects after a lost connection; after a refused one, this does.
import { useEffect, useState } from 'react';
import { liveTexts } from '../texts/live.js';
import type { Row } from './answer.js';

export interface Sample {
  readonly at: string;
  readonly reason: string;
  readonly event: string;
}

export interface LiveFeed {
  /** Newest first. Undefined until the first message. */
  readonly events: readonly Row[] | undefined;
  readonly rejected: readonly Sample[];
  /** The newest event when more may have come than are listed. */
  readonly gapAt: Row | undefined;
  readonly problem: string | undefined;
}

/** Rows of each kind; older ones are dropped. */
export const KEPT = 200;
const RETRY_MS = 5000;
const EMPTY: LiveFeed = { events: undefined, rejected: [], gapAt: undefined, problem: undefined };

/** Known ones come again after a reconnection. */
function merged<T>(fresh: readonly T[], known: readonly T[]): readonly T[] {
  const keys = new Set(known.map((item) => JSON.stringify(item)));
  return [...fresh.filter((item) => !keys.has(JSON.stringify(item))), ...known].slice(0, KEPT);
}

export function useLive(projectId: string, isOn: boolean): LiveFeed {
  const [feed, setFeed] = useState<LiveFeed>(EMPTY);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const source = new EventSource(`/api/projects/${projectId}/live`);
    const listen = <T>(kind: string, take: (data: T, before: LiveFeed) => LiveFeed): void =>
      source.addEventListener(kind, (event) => {
        const data = JSON.parse((event as MessageEvent<string>).data) as T;
        setFeed((before) => take(data, before));
      });
    listen<readonly Row[]>('events', (rows, before) => ({
      ...before,
      problem: undefined,
      events: merged(rows, before.events ?? []),
    }));
    listen('gap', (_, before) => ({ ...before, gapAt: before.events?.[0] }));
    listen<readonly Sample[]>('rejected', (samples, before) => ({
      ...before,
      rejected: merged(samples, before.rejected),
    }));
    listen<{ error: string }>('problem', ({ error }, before) => ({ ...before, problem: error }));
    source.addEventListener('open', () => setFeed((before) => ({ ...before, problem: undefined })));
    source.addEventListener('error', () => {
      setFeed((before) => ({ ...before, problem: liveTexts.disconnected }));
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(() => setAttempt(attempt + 1), RETRY_MS);
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [projectId, isOn, attempt]);
  return feed;
}
