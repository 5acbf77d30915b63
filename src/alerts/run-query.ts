// Runs the query of an alert: a normal query over HTTP, with a project pass. So it takes a place
// among the queries of its project, and has their limits and deadline.
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';
import type { ProjectId } from '../platform/ids.js';
import type { Row } from './when.js';

/** Rows that a condition is evaluated on. */
export const ROWS_READ = 1000;
/** A larger answer is not parsed, because that would delay other work of the process. */
const BYTES_MAX = 4 * 1024 * 1024;

export interface AlertQuestion {
  readonly projectId: ProjectId;
  /** The person of a dry run, or the service. */
  readonly personId: string;
  readonly query: string;
  readonly timezone: string;
}

export type AlertAnswer =
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly isTruncated: boolean }
  /** The project has too many queries at this moment. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly error: string };

/** Never rejects. */
export type RunAlertQuery = (question: AlertQuestion, signal: AbortSignal) => Promise<AlertAnswer>;

interface QueryBody {
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  readonly total?: number;
  readonly error?: string;
}

export interface QuerySource {
  /** Of the query process, or of web. */
  readonly queryUrl: () => string;
  readonly passes: ProjectPasses;
  /** Of the query itself, without the time that it waits for a place. */
  readonly queryTimeoutMs: number;
}

/** For a place among the project's queries. */
const WAITING_MS = 30_000;
const UNAVAILABLE = 'the query could not be run';

export function createAlertQueries({ queryUrl, passes, queryTimeoutMs }: QuerySource): RunAlertQuery {
  return async ({ projectId, personId, query, timezone }, signal) => {
    try {
      const response = await fetch(new URL('/query', queryUrl()), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          [PASS_HEADER]: passes.issue({ projectId, personId }, Date.now()),
        },
        body: JSON.stringify({ q: query, format: 'json', limit: ROWS_READ, timezone }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(queryTimeoutMs + WAITING_MS)]),
      });
      if (Number(response.headers.get('Content-Length')) > BYTES_MAX) {
        await response.body?.cancel();
        return { kind: 'failed', error: `the answer has more than ${BYTES_MAX} bytes; narrow the query` };
      }
      const body = (await response.json()) as QueryBody;
      if (response.status === 429) return { kind: 'busy' };
      if (!response.ok) return { kind: 'failed', error: body.error ?? `${UNAVAILABLE}: status ${response.status}` };
      const rows = body.rows ?? [];
      return { kind: 'rows', rows, isTruncated: (body.total ?? 0) > rows.length };
    } catch {
      return { kind: 'failed', error: UNAVAILABLE };
    }
  };
}
