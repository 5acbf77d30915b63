// Compares stored data with acknowledged requests. Lost: acknowledged and not stored. Duplicated:
// stored more than once. Phantom: stored and never sent. A profile is wrong when no outcome of the
// unanswered calls explains it.
import { setTimeout as delay } from 'node:timers/promises';
import { ask, type Stack } from '../bench/stack.js';
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import type { EventLedger, ProfileModel, Traffic } from './traffic.js';

const RECOVERY_TIMEOUT_MS = 180_000;

export interface EventFindings {
  readonly lost: readonly string[];
  readonly duplicated: number;
  readonly phantom: readonly string[];
  readonly stored: number;
}

async function checkEvents(
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
function findProfileProblem(model: ProfileModel, stored: StoredProfile | undefined): string | undefined {
  if (stored === undefined) return model.value === 0 ? undefined : 'it is missing';
  const values = [model.value, ...model.maybeValues];
  if (!values.includes(stored.value)) return `value is ${stored.value}, expected one of ${values.join(', ')}`;
  const most = model.added + model.maybeAdded;
  if (stored.total < model.added || stored.total > most) {
    return `total is ${stored.total}, expected ${model.added}${most > model.added ? ` to ${most}` : ''}`;
  }
  return undefined;
}

export interface Outcome {
  readonly events: EventFindings;
  readonly profileProblems: readonly string[];
  /** From the last request until everything was stored. */
  readonly recoverySeconds: number;
}

/** Where the events of a project are, and how its profiles are asked for. */
type Target = Pick<Stack, 'clickhouse' | 'projectId' | 'url' | 'secretKey'>;

/** Resolves when everything is correct, or with the problems after three minutes. */
export async function untilStored(target: Target, traffic: Traffic): Promise<Outcome> {
  const startedAt = Date.now();
  for (;;) {
    const outcome = await look(target, traffic).catch((error: unknown) => error);
    const recoverySeconds = (Date.now() - startedAt) / 1000;
    const isOver = Date.now() - startedAt > RECOVERY_TIMEOUT_MS;
    if (outcome instanceof Error && isOver) throw outcome;
    if (!(outcome instanceof Error)) {
      const found = outcome as Omit<Outcome, 'recoverySeconds'>;
      if (isRight(found) || isOver) return { ...found, recoverySeconds };
    }
    await delay(500);
  }
}

async function look(target: Target, traffic: Traffic): Promise<Omit<Outcome, 'recoverySeconds'>> {
  const events = await checkEvents(target.clickhouse, target.projectId, traffic.events);
  const { rows } = await ask(target, 'users | last 1d | list | limit 10000');
  const profiles = new Map(rows.map((row) => [row.user_id as string, row.properties as unknown as StoredProfile]));
  const profileProblems = [...traffic.profiles].flatMap(([userId, model]) => {
    const problem = findProfileProblem(model, profiles.get(userId));
    return problem === undefined ? [] : [`${userId}: ${problem}`];
  });
  return { events, profileProblems };
}

export const isRight = ({ events, profileProblems }: Omit<Outcome, 'recoverySeconds'>): boolean =>
  events.lost.length + events.duplicated + events.phantom.length + profileProblems.length === 0;
