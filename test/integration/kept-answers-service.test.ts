// Kept answers of the service's processes: a question that was asked before is answered with what
// each kind of change has made of the data, and from memory when there was none.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { DAY_MS, startNight } from '../support/keeping.js';

const PEOPLE = 'view | last 30d | unique distinct_id';
const LATE = 'view | from 2026-01-01 to 2026-02-01 | count';
const PRO = '* | last 30d | where user.plan = "pro" | unique distinct_id';

let stack: ErasureStack;
let tenant: Tenant;

beforeAll(async () => {
  stack = await startErasureStack();
  tenant = await stack.createTenant();
}, 240_000);

afterAll(() => stack?.close());

const post = (path: string, body: object, method = 'POST'): Promise<Response> =>
  fetch(stack.processes.url + path, {
    method,
    headers: { 'X-API-Key': tenant.project.secretKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Resolves when the events are counted. */
async function send(...events: object[]): Promise<void> {
  const sent = events.map((event) => ({ event_type: 'view', insert_id: randomUUID(), ...event }));
  const answer = await post('/track?wait=1', { events: sent });
  expect(await answer.json()).toEqual({ accepted: events.length, counted: true });
}

const askValue = async (q: string): Promise<unknown> => (await tenant.ask(q))[0]?.value ?? 0;

/** Asked twice, so that the answer is kept. */
async function values(...queries: string[]): Promise<unknown[]> {
  const first = await Promise.all(queries.map(askValue));
  expect(await Promise.all(queries.map(askValue))).toEqual(first);
  return first;
}

async function hits(): Promise<number> {
  const metrics = await (await fetch(`${stack.processes.get('query').url}/metrics`)).text();
  return Number(/^query_answers_kept_total\{result="hit"\} (\d+)$/m.exec(metrics)?.[1]);
}

const putDefinitions = async (source_yaml: string) => {
  const { ok } = await post('/api/definitions', { source_yaml }, 'PUT');
  expect(ok).toBe(true);
};

test('events, late ones too, are in the next answer', async () => {
  expect(await values(PEOPLE, LATE)).toEqual([0, 0]);
  await send({ user_id: 'ann' }, { device_id: 'phone' });
  expect(await values(PEOPLE, LATE)).toEqual([2, 0]);
  await send({ user_id: 'bob', time: '2026-01-05T00:00:00Z' }, { user_id: 'cid' });
  expect(await values(PEOPLE, LATE)).toEqual([3, 1]);
});

test('an answer without changes is from memory', async () => {
  await eventually(async () => {
    const before = await hits();
    expect(await values(LATE, LATE)).toEqual([1, 1]);
    expect(await hits()).toBeGreaterThan(before);
  });
});

test('a linked device and a changed profile are in the next answer', async () => {
  expect(await values(PEOPLE, PRO)).toEqual([3, 0]);
  await tenant.identify('ann', 'phone', { plan: 'pro' });
  await eventually(async () => expect(await values(PEOPLE, PRO)).toEqual([2, 1]));
  await tenant.identify('ann', undefined, { plan: 'free' });
  await eventually(async () => expect(await values(PEOPLE, PRO)).toEqual([2, 0]));
});

test('a changed definition is in the next answer', async () => {
  const source = (type: string) => `version: 1\nevents:\n  seen: { query: '${type}', about: 'seen' }\n`;
  const seen = 'seen | from 2026-01-01 to 2026-02-01 | count';
  await putDefinitions(source('view'));
  expect(await values(seen)).toEqual([1]);
  await putDefinitions(source('other'));
  expect(await values(seen)).toEqual([0]);
});

test('an erased person is in no answer after the receipt, nor after the files were rewritten', async () => {
  expect(await values(PEOPLE, LATE)).toEqual([2, 1]);
  const { body } = await tenant.gdpr.erase('bob');
  expect(await values(PEOPLE, LATE)).toEqual([2, 0]);
  await tenant.gdpr.erase('cid');
  expect(await values(PEOPLE, LATE)).toEqual([1, 0]);
  await tenant.gdpr.reached('purged', body.request_id);
  expect(await values(PEOPLE, LATE)).toEqual([1, 0]);
});

test('events that are kept no longer are in no answer after the night', async () => {
  const old = new Date(Date.now() - 20 * DAY_MS).toISOString();
  await send({ user_id: 'old', time: old });
  expect(await values(PEOPLE)).toEqual([2]);
  await putDefinitions(`version: 1\nkeep: { default: 10d }\n`);
  await startNight(stack, tenant.project.id);
  await eventually(async () => expect(await values(PEOPLE)).toEqual([1]));
});

test('a list of people is recorded each time', async () => {
  const people = 'view | last 30d | people';
  const listed = async () =>
    Number((await stack.postgres('audit_entries').where({ action: 'people.listed' }).count())[0]?.count);
  const before = await listed();
  for (let turn = 0; turn < 3; turn += 1) expect((await post('/query', { q: people })).status).toBe(200);
  expect((await listed()) - before).toBe(3);
});
