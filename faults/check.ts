// Compares stored data with acknowledged requests. Lost: acknowledged and not stored. Duplicated:
// stored more than once. Phantom: stored and never sent. A profile is wrong when no outcome of the
// unanswered calls explains it.
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import type { EventLedger, ProfileModel } from './traffic.js';

export interface EventFindings {
  readonly lost: readonly string[];
  readonly duplicated: number;
  readonly phantom: readonly string[];
  readonly stored: number;
}

export async function checkEvents(
  clickhouse: ClickHouseClient,
  projectId: string,
  ledger: EventLedger,
): Promise<EventFindings> {
  const result = await clickhouse.query({
    query: 'SELECT insert_id FROM events WHERE project_id = {projectId:UUID}',
    query_params: { projectId },
    format: 'JSONCompactEachRow',
  });
  const rows = (await result.json<[string]>()).map(([insertId]) => insertId);
  const stored = new Set(rows);
  return {
    lost: [...ledger.acknowledged].filter((id) => !stored.has(id)),
    duplicated: rows.length - stored.size,
    phantom: [...stored].filter((id) => !ledger.sent.has(id)),
    stored: rows.length,
  };
}

export interface StoredProfile {
  readonly value: number;
  readonly total: number;
}

/** The problem of a profile as text; undefined when a possible outcome explains its values. */
export function findProfileProblem(model: ProfileModel, stored: StoredProfile | undefined): string | undefined {
  if (stored === undefined) return model.value === 0 ? undefined : 'it is missing';
  const values = [model.value, ...model.maybeValues];
  if (!values.includes(stored.value)) return `value is ${stored.value}, expected one of ${values.join(', ')}`;
  const most = model.added + model.maybeAdded;
  if (stored.total < model.added || stored.total > most) {
    return `total is ${stored.total}, expected ${model.added}${most > model.added ? ` to ${most}` : ''}`;
  }
  return undefined;
}
