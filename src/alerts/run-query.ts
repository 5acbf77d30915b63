// Runs the queries of alerts and reports: normal queries over HTTP, with a project pass. So they
// take places among the queries of their project, and have their limits and deadline.
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';
import { DEFINITIONS_UNREAD } from '../definitions/reader.js';
import { abortAfter } from '../platform/flow/abort-after.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Row } from './when.js';

/** Rows that a condition is evaluated on. */
const ROWS_READ = 1000;
/** A larger answer is not parsed, because that would delay other work of the process. */
const BYTES_MAX = 4 * 1024 * 1024;

export interface AlertQuestion {
  readonly projectId: ProjectId;
  /** The person of a dry run, or the service. */
  readonly personId: string;
  readonly query: string;
  readonly timezone: string;
  /** Default: ROWS_READ. */
  readonly rowsMax?: number;
  /** Rows that are left out before them. Default: none. */
  readonly offset?: number;
}

export interface AnsweredRows {
  readonly kind: 'rows';
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Rows of the query, of which `rows` are those from the offset on. */
  readonly total: number;
  readonly isTruncated: boolean;
  /** Whether columns have the values of an earlier period. */
  readonly isCompared: boolean;
  readonly mode: string;
  /** Only of a choice: whether its rates are means of a value. */
  readonly hasMeans: boolean;
}

export type AlertAnswer =
  | AnsweredRows
  /** The project has too many queries at this moment. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly error: string };

/** Never rejects. */
export type RunAlertQuery = (question: AlertQuestion, signal: AbortSignal) => Promise<AlertAnswer>;

interface QueryBody {
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  readonly total?: number;
  readonly mode?: string;
  /** Only of a choice. */
  readonly method?: { readonly value?: unknown };
  readonly metadata?: { readonly compare?: unknown; readonly warnings?: readonly string[] };
  readonly error?: string;
}

export interface QuerySource {
  /** URL of the query process, or of web. */
  readonly queryUrl: () => string;
  readonly passes: ProjectPasses;
  /** The longest that a query waits for a place, and then runs. */
  readonly queryTimeoutMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** For everything else, so that the answer of the query tells what has timed out. */
const GRACE_MS = 5_000;
const UNAVAILABLE = 'the query could not be run';

export function createAlertQueries({ queryUrl, passes, queryTimeoutMs, log }: QuerySource): RunAlertQuery {
  return async ({ projectId, personId, query, timezone, rowsMax = ROWS_READ, offset = 0 }, signal) => {
    try {
      const response = await fetch(new URL('/query', queryUrl()), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          // Its size is checked before it is read.
          'Accept-Encoding': 'identity',
          [PASS_HEADER]: passes.issue({ projectId, personId }, Date.now()),
        },
        body: JSON.stringify({ q: query, format: 'json', limit: rowsMax, offset, timezone }),
        signal: abortAfter(queryTimeoutMs + GRACE_MS, signal),
      });
      if (Number(response.headers.get('Content-Length')) > BYTES_MAX) {
        await response.body?.cancel();
        return { kind: 'failed', error: `the answer has more than ${BYTES_MAX} bytes; narrow the query` };
      }
      const body = (await response.json()) as QueryBody;
      if (response.status === 429) return { kind: 'busy' };
      if (!response.ok) return { kind: 'failed', error: body.error ?? `${UNAVAILABLE}: status ${response.status}` };
      // A defined event would be one that was never sent: 0, and a false alarm.
      if (body.metadata?.warnings?.includes(DEFINITIONS_UNREAD)) return { kind: 'failed', error: DEFINITIONS_UNREAD };
      const { rows = [], columns = [], mode = '' } = body;
      const total = body.total ?? rows.length;
      const isTruncated = total > offset + rows.length;
      const isCompared = body.metadata?.compare !== undefined;
      const hasMeans = body.method?.value !== undefined;
      return { kind: 'rows', columns, rows, total, isTruncated, isCompared, mode, hasMeans };
    } catch (err) {
      // A stopping process has ended the query itself.
      if (!signal.aborted) log.warn({ err, url: queryUrl(), project: projectId }, UNAVAILABLE);
      return { kind: 'failed', error: `${UNAVAILABLE}: ${describe(err)}` };
    }
  };
}

/** For members of the project: addresses of the installation are in the log only. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  if (error.name === 'TimeoutError') return 'no answer in time';
  if (error.name === 'AbortError') return 'it was ended';
  return error instanceof SyntaxError ? 'the answer is not JSON' : 'the service does not answer';
}
