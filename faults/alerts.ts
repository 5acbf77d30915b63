// Alerts and a report under faults: conditions that turn again and again, and a clock of the
// database that is stepped. Afterwards each transition must have been told exactly once, apart from
// repetitions with the same delivery id.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../bench/stack.js';
import { createPostgres, type Postgres } from '../src/platform/postgres/client.js';
import { createSender } from './client.js';
import type { AcceptedHook, HookReceiver } from './hook-receiver.js';
import type { Random } from './random.js';
import type { EventLedger } from './traffic.js';

const TURN_MS = { min: 2500, max: 4500 };
/** Forward by more than the interval of the alerts, and often by more than a claim lasts. */
const FORWARD_SECONDS = { min: 61, max: 300 };
const BACK_SECONDS = { min: 10, max: 40 };
const SETTLE_MS = 120_000;
/** Messages that failed are due again; all steps are shorter than the two days of a message. */
const SETTLE_STEP_SECONDS = 1200;
const CONDITIONS = ['value > 0', 'value < 1', 'all value > 0', 'value = 1', 'value != 1', 'value >= 1', 'value = 0'];

export interface AlertFindings {
  readonly transitions: number;
  /** Runs of alerts and reports by outcome. */
  readonly checks: Readonly<Record<string, number>>;
  /** Stored messages that were never accepted. */
  readonly missing: readonly string[];
  /** Accepted messages that were never stored. */
  readonly unknown: readonly string[];
  /** Alerts whose messages do not follow each other. */
  readonly disordered: readonly string[];
  /** Messages that were repeated with the same id, and those with another content. */
  readonly repeated: number;
  readonly changed: readonly string[];
  /** From the last fault until every message was sent. */
  readonly settleSeconds: number;
}

export interface AlertRun {
  /** Turns the conditions until aborted. */
  turnUntil(stop: AbortSignal): Promise<void>;
  /** Resolves when every message was sent, or after two minutes. */
  settle(): Promise<AlertFindings>;
  close(): Promise<void>;
}

interface Options {
  readonly stack: Stack;
  readonly receiver: HookReceiver;
  readonly random: Random;
  readonly ledger: EventLedger;
}

export async function startAlerts({ stack, receiver, random, ledger }: Options): Promise<AlertRun> {
  const postgres = createPostgres({ DATABASE_URL: stack.postgresUrl });
  await saveDocument(stack, receiver.url);
  const sender = createSender({ url: stack.url, key: stack.secretKey, random, mischief: { hungUp: 0, sentTwice: 0 } });
  return {
    async turnUntil(stop) {
      for (let amount = 1; !stop.aborted; amount = -amount) {
        await turn({ sender, ledger, amount, stop });
        if (random.next() < 0.3) await stepClock(postgres, -random.between(BACK_SECONDS.min, BACK_SECONDS.max));
        await stepClock(postgres, random.between(FORWARD_SECONDS.min, FORWARD_SECONDS.max));
        await passDay(postgres);
        await delay(random.between(TURN_MS.min, TURN_MS.max));
      }
    },
    async settle() {
      const startedAt = performance.now();
      await untilDone(() => endChecks(postgres));
      for (;;) {
        const waiting = await countWaiting(postgres).catch(() => 1);
        const elapsedMs = performance.now() - startedAt;
        if (waiting === 0 || elapsedMs > SETTLE_MS) {
          return { ...(await judge(postgres, receiver.accepted)), settleSeconds: elapsedMs / 1000 };
        }
        await stepClock(postgres, SETTLE_STEP_SECONDS);
        await delay(2000);
      }
    },
    close: () => postgres.destroy(),
  };
}

async function saveDocument(stack: Stack, url: string): Promise<void> {
  const alerts = CONDITIONS.map((when, index) => ({
    ...{ id: `turn-${index}`, query: 'turn | last 1d | sum amount', when, every: '1m', to: [`${url}/${index}`] },
  }));
  const card = { id: 'turns', title: 'Turns', kind: 'metric', viz: 'number', query: 'turn | last 1d | count' };
  const document = {
    ...{ version: 1, title: 'Turns', sections: [{ title: 'S', cards: [card] }], alerts },
    reports: [{ id: 'daily', at: 'daily 08:00', to: [`${url}/report`] }],
  };
  const response = await fetch(`${stack.url}/api/dashboard-sync/turns`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': stack.secretKey },
    body: JSON.stringify({ source_yaml: JSON.stringify(document) }),
  });
  if (!response.ok) throw new Error(`the alerts cannot be saved: ${await response.text()}`);
}

interface Turn {
  readonly sender: ReturnType<typeof createSender>;
  readonly ledger: EventLedger;
  readonly amount: number;
  readonly stop: AbortSignal;
}

/** One event, whose amount turns the sum between 1 and 0. Sent with the same id until accepted. */
async function turn({ sender, ledger, amount, stop }: Turn): Promise<void> {
  const insert_id = `turn-${randomUUID()}`;
  const event = { event_type: 'turn', insert_id, device_id: 'turner', event_properties: { amount } };
  ledger.sent.add(insert_id);
  while (!stop.aborted) {
    if ((await sender.send('/track', { ...event, time: new Date().toISOString() })) !== 'acknowledged') continue;
    ledger.acknowledged.add(insert_id);
    return;
  }
}

const TIMES = {
  alerts: ['next_due_at', 'claimed_until', 'checked_at', 'changed_at'],
  alert_deliveries: ['next_attempt_at', 'claimed_until', 'created_at', 'ended_at'],
};

/**
 * Only the clock of the database decides what is due, so moving all stored times has the effect of
 * a step of that clock, without one for the other programs of the machine.
 */
async function stepClock(postgres: Postgres, seconds: number): Promise<void> {
  await postgres
    .transaction(async (transaction) => {
      for (const [table, columns] of Object.entries(TIMES)) {
        const moved = columns.map((column) => `${column} = ${column} - make_interval(secs => :seconds)`);
        await transaction.raw(`UPDATE ${table} SET ${moved.join(', ')}`, { seconds });
      }
    })
    // The server is killed or paused: the clock is stepped the next time.
    .catch(() => {});
}

/** Makes the report due, unless it is due or runs. */
async function passDay(postgres: Postgres): Promise<void> {
  await postgres('alerts')
    .where({ kind: 'report', claim_id: null })
    .where('next_due_at', '>', postgres.fn.now())
    .update({ next_due_at: postgres.fn.now() })
    .catch(() => {});
}

async function countWaiting(postgres: Postgres): Promise<number> {
  const [row] = await postgres('alert_deliveries').where({ status: 'waiting' }).count();
  return Number(row?.count);
}

/** Nothing is due any more, and results of running checks do not count. */
async function endChecks(postgres: Postgres): Promise<void> {
  const later = postgres.raw(`now() + interval '10 years'`);
  await postgres('alerts').update({ next_due_at: later, claim_id: null, claimed_until: null });
}

/** Again while the server is killed or restarts. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(500);
    }
  }
}

interface Stored {
  readonly id: string;
  readonly key: string;
  readonly transition: number;
  readonly before: string | null;
  readonly state: string | null;
  readonly status: string;
  readonly error: string | null;
}

type Judged = Omit<AlertFindings, 'settleSeconds'>;

async function judge(postgres: Postgres, accepted: readonly AcceptedHook[]): Promise<Judged> {
  const stored: Stored[] = await postgres('alert_deliveries AS d')
    .join('alerts AS a', 'a.id', 'd.alert_id')
    .orderBy(['a.key', 'd.transition'])
    .select('d.id', 'a.key', 'd.transition', 'd.status', 'd.error', {
      before: postgres.raw("d.message->>'before'"),
      state: postgres.raw("d.message->>'state'"),
    });
  const counted: { key: string; transitions: number }[] = await postgres('alerts').select('key', 'transitions');
  const outcomes: { outcome: string; count: string }[] = await postgres('alert_checks')
    .select('outcome')
    .count()
    .groupBy('outcome');
  const checks = Object.fromEntries(outcomes.map(({ outcome, count }) => [outcome, Number(count)]));
  return { ...compare(stored, counted, accepted), checks };
}

/** Pure. `counted`: how many transitions each alert has made. */
export function compare(
  stored: readonly Stored[],
  counted: readonly { readonly key: string; readonly transitions: number }[],
  accepted: readonly AcceptedHook[],
): Omit<Judged, 'checks'> {
  const first = new Map<string, string>();
  for (const { id, text } of accepted) if (!first.has(id)) first.set(id, text);
  const known = new Map(stored.map((one) => [one.id, one]));
  const arrived = [...first.keys()].flatMap((id) => known.get(id) ?? []);
  const isOrdered = ({ key, transitions }: { key: string; transitions: number }): boolean => {
    const told = arrived.filter((one) => one.key === key);
    const follows = (one: Stored, index: number) =>
      one.transition === index + 1 && (index === 0 || one.before === (told[index - 1]?.state ?? null));
    return told.length === transitions && told.every(follows);
  };
  return {
    transitions: stored.length,
    missing: stored
      .filter(({ id }) => !first.has(id))
      .map(({ key, transition, status, error }) => `${key} ${transition}: ${status}, ${error}`),
    unknown: [...first.keys()].filter((id) => !known.has(id)),
    disordered: counted.filter((alert) => !isOrdered(alert)).map(({ key }) => key),
    repeated: accepted.length - first.size,
    changed: accepted.filter(({ id, text }) => first.get(id) !== text).map(({ id }) => id),
  };
}
