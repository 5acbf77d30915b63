// Dry run of keeping: how many stored events are behind the edges of the coming night. Asked by
// normal queries, so that they take places among the queries of their project.
import type { RunAlertQuery } from '../alerts/run-query.js';
import type { ProjectId } from '../platform/ids.js';
import { DAY_MS } from '../platform/utc-day.js';
import { quoteText } from '../query/parse/strings.js';
import { type Edge, edgesOf, type Keep, namedIn } from './keep.js';

export interface DueEdge extends Edge {
  /** Events before the edge; null when they could not be counted. */
  readonly due: number | null;
}

export async function countDue(
  runQuery: RunAlertQuery,
  { projectId, keep, signal }: { projectId: ProjectId; keep: Keep; signal: AbortSignal },
  nowMs: number,
): Promise<DueEdge[]> {
  // The night runs after the next midnight.
  const edges = edgesOf(keep, nowMs + DAY_MS);
  const named = namedIn(edges);
  const counted: DueEdge[] = [];
  for (const edge of edges) {
    const question = { projectId, personId: 'service', query: queryOf(edge, named), timezone: 'UTC', rowsMax: 1 };
    const answer = await runQuery(question, signal);
    const value = answer.kind === 'rows' ? answer.rows[0]?.value : undefined;
    counted.push({ ...edge, due: typeof value === 'number' ? value : null });
  }
  return counted;
}

function queryOf({ events, beforeMs }: Edge, named: readonly string[]): string {
  const listOf = (types: readonly string[]): string => `(${types.map(quoteText).join(', ')})`;
  const types =
    events !== undefined
      ? ` | where event_type in ${listOf(events)}`
      : named.length === 0
        ? ''
        : ` | where event_type not in ${listOf(named)}`;
  return `*${types} | since 1900-01-01 | where time < ${new Date(beforeMs).toISOString()} | count`;
}

/** For the answer of a change: what the coming night deletes. */
export function warningsOfDue(due: readonly DueEdge[]): string[] {
  return due.flatMap(({ events, days, beforeMs, due: count }) => {
    if (count === 0) return [];
    const what = events === undefined ? 'events' : `events ${events.join(', ')}`;
    const number = count === null ? 'an unknown number of' : String(count);
    return [
      `keep ${days}d: ${number} ${what} before ${new Date(beforeMs).toISOString()} will be deleted after midnight (UTC)`,
    ];
  });
}
