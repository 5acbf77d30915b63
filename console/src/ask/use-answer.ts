// Hook that runs the query of the URL. The previous answer stays until the next one arrives;
// cancelling aborts the request, which stops the query in ClickHouse.
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Answer } from '../api/answer.js';
import { query, ROWS_MAX } from '../api/query.js';
import type { RequestFailed } from '../api/request.js';

/** Rows of the first answer: a table shows these, and a chart that needs more asks for all. */
const ROWS = 1000;

export interface Asking {
  readonly answer: Answer | undefined;
  readonly failure: RequestFailed | undefined;
  readonly isRunning: boolean;
  readonly isCancelled: boolean;
  readonly seconds: number;
  readonly cancel: () => void;
  readonly runAgain: () => void;
  /** Marks the kept answers of a question as old: it is asked again, now or when it is shown. */
  readonly renew: (q: string, timezone: string) => void;
  readonly showAll: () => void;
  /**
   * The answer with at least its first `rows` rows. Where fewer are shown, it is asked for all,
   * which are shown from then on.
   */
  readonly readRows: (rows: number) => Promise<Answer>;
}

export function useAnswer(projectId: string, q: string, timezone: string): Asking {
  // Another query starts with its first rows again.
  const [whole, setWhole] = useState<string>();
  const limit = whole === q ? ROWS_MAX : ROWS;
  const client = useQueryClient();
  const asks = (rows: number) =>
    queryOptions<Answer, RequestFailed>({
      queryKey: ['answer', projectId, q, timezone, rows],
      queryFn: ({ signal }) => query({ projectId, q, timezone, limit: rows }, signal),
      networkMode: 'always',
    });
  const { data, error, isFetching, isPending, isPlaceholderData, refetch } = useQuery({
    ...asks(limit),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  return {
    answer: q === '' ? undefined : data,
    failure: isFetching ? undefined : (error ?? undefined),
    isRunning: isFetching,
    // The answer of the query before is still there.
    isCancelled: q !== '' && (isPending || isPlaceholderData) && !isFetching && error === null,
    seconds: useSeconds(isFetching),
    cancel: () => void client.cancelQueries({ queryKey: asks(limit).queryKey }),
    renew: (of, zone) => void client.invalidateQueries({ queryKey: ['answer', projectId, of, zone] }),
    runAgain: () => void refetch(),
    // Not of the query before, whose answer is still there.
    showAll: () => {
      if (!isPlaceholderData) setWhole(q);
    },
    readRows: (rows) => {
      const isCurrent = data !== undefined && !isPlaceholderData && !isFetching;
      if (isCurrent && data.rows.length >= Math.min(data.total, rows)) return Promise.resolve(data);
      setWhole(q);
      return client.fetchQuery(asks(ROWS_MAX));
    },
  };
}

/** Whole seconds since it began to run. */
function useSeconds(isRunning: boolean): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!isRunning) return;
    const startedAt = performance.now();
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - startedAt) / 1000)), 250);
    return () => clearInterval(timer);
  }, [isRunning]);
  return seconds;
}
