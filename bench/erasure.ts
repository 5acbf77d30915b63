// Erasure from ten million events: one person, a hundred at once, and the purge of the files for
// all of them.
import { rewriteParts } from '../src/privacy/rewrite-files.js';
import { atMost, type Measurement } from './measurement.js';
import { toEventInserts } from './query-data.js';
import { type BenchContext, type Stack, selectRows, untilMergesRest } from './stack.js';
import { median } from './statistics.js';

const DAYS = 90;
const TOGETHER = 100;
const ALONE = 3;

export async function benchErasure({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const events = isQuick ? 500_000 : 10_000_000;
  say(`erasure: making ${events.toLocaleString('en-US')} events`);
  for (const insert of toEventInserts({ projectId: stack.projectId, events, days: DAYS, untilMs: Date.now() })) {
    await stack.clickhouse.command(insert);
  }
  await untilMergesRest(stack);
  const people = await findPeople(stack, ALONE + TOGETHER);

  say('erasure: one person at a time');
  const alone: number[] = [];
  for (const person of people.slice(0, ALONE)) alone.push(await timed(() => erase(stack, person)));
  say(`erasure: ${TOGETHER} people at once`);
  const together = await timed(() => Promise.all(people.slice(ALONE).map((person) => erase(stack, person))));
  say('erasure: rewriting the files');
  const rewriting = await timed(() => rewriteParts(stack.clickhouse, new AbortController()));
  return [
    { name: 'events in the table', value: events, unit: '' },
    { name: 'one person, to the receipt, median', value: median(alone) / 1000, unit: 's', aim: atMost(10) },
    { name: `${TOGETHER} people, to the last receipt`, value: together / 1000, unit: 's', aim: atMost(25) },
    { name: `rewriting the parts of all ${ALONE + TOGETHER}`, value: rewriting / 1000, unit: 's' },
  ];
}

/** People with the most events, the most expensive to erase. */
async function findPeople(stack: Stack, count: number): Promise<string[]> {
  const rows = await selectRows(
    stack,
    `SELECT user_id FROM events WHERE project_id = '${stack.projectId}' AND user_id != ''
     GROUP BY user_id ORDER BY count() DESC, user_id LIMIT ${count}`,
  );
  return rows.map(([userId]) => String(userId));
}

/** Throws unless a receipt with a positive number of events arrives. */
async function erase(stack: Stack, userId: string): Promise<void> {
  const headers = { 'x-api-key': stack.secretKey };
  const response = await fetch(`${stack.url}/api/gdpr/users/${userId}`, { method: 'DELETE', headers });
  const receipt = (await response.json()) as { status?: string; events?: number };
  if (receipt.status !== 'deleted' || !receipt.events) throw new Error(`no receipt: ${JSON.stringify(receipt)}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
