// Erasure and export beside a hostile tenant: the effect of its hundred erasures and slow readers
// on another project, and its own responses above the rate limits.
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';

const PEOPLE = 100;
const EVENTS_PER_PERSON = 2_000;
const READER_TIMEOUT_MS = 20_000;
const EXPORTS_OF_PROJECT_MAX = 4;

let stack: ErasureStack;

beforeAll(async () => {
  stack = await startErasureStack({
    // No purge runs meanwhile, because this file compares the order of receipts.
    PRIVACY_PURGE_DELAY_MS: String(30 * 60_000),
    PRIVACY_ANSWER_TIMEOUT_MS: '120000',
    EXPORTS_MAX: '2',
    EXPORTS_OPEN_MAX: String(4 * EXPORTS_OF_PROJECT_MAX),
    EXPORT_READER_TIMEOUT_MS: String(READER_TIMEOUT_MS),
  });
}, 240_000);

afterAll(() => stack?.close());

/**
 * Inserts directly into the table, because sending so many events would take too long. They span
 * several months.
 */
async function fill({ project }: Tenant, people: number, eventsPerPerson: number, bytes = 200): Promise<void> {
  await stack.store.client.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ingest_origin, ep_str)
      SELECT {project:UUID}, 'filled', toDateTime64('2026-06-01', 3, 'UTC') + (number % 100) * 86400, toString(number),
        concat('person-', toString(number % {people:UInt32})), 'server', map('padding', repeat('x', {bytes:UInt32}))
      FROM numbers({events:UInt32})`,
    query_params: { project: project.id, people, bytes, events: people * eventsPerPerson },
  });
}

describe('a hundred concurrent erasures of one project', () => {
  async function expectErased(tenant: Tenant, userId: string): Promise<void> {
    const answer = await tenant.gdpr.erase(userId);
    expect(answer).toMatchObject({ status: 200, body: { status: 'deleted', events: EVENTS_PER_PERSON } });
  }

  test('do not hold up an erasure of another project, and all complete', async () => {
    const [hostile, victim] = [await stack.createTenant(), await stack.createTenant()];
    await fill(hostile, PEOPLE, EVENTS_PER_PERSON);
    await fill(victim, PEOPLE, EVENTS_PER_PERSON);

    await expectErased(victim, 'person-1');
    let answered = 0;
    const attack = Array.from({ length: PEOPLE }, async (_, number) => {
      const answer = await hostile.gdpr.erase(`person-${number}`);
      answered += 1;
      return answer;
    });
    await expectErased(victim, 'person-4');
    const answeredBefore = answered;
    for (const number of [5, 6]) await expectErased(victim, `person-${number}`);
    const answers = await Promise.all(attack);

    expect(answers.filter(({ status, body }) => status === 200 && body.status === 'deleted')).toHaveLength(PEOPLE);
    await hostile.holds(0);
    // A receipt that waited for the hundred would arrive with their last.
    expect(answeredBefore).toBeLessThan(0.7 * PEOPLE);
  }, 360_000);
});

describe('exports that a hostile project reads', () => {
  const LINES = 20_000;
  const LINE_BYTES = 2_000;
  let hostile: Tenant;
  let victim: Tenant;
  const opened: IncomingMessage[] = [];

  beforeAll(async () => {
    [hostile, victim] = [await stack.createTenant(), await stack.createTenant()];
    for (const tenant of [hostile, victim]) await fill(tenant, 1, LINES, LINE_BYTES);
  }, 240_000);

  afterEach(async () => {
    for (const response of opened.splice(0)) response.destroy();
    // They count until the web process has noticed the disconnect.
    await eventually(async () => expect((await open(hostile, 'unknown')).statusCode).toBe(200));
  });

  function open({ project }: Tenant, userId = 'person-0'): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const address = `${stack.processes.url}/api/gdpr/users/${userId}/export`;
      const asked = request(address, { headers: { 'X-API-Key': project.secretKey }, agent: false });
      asked.on('response', (response: IncomingMessage) => {
        opened.push(response.pause());
        response.on('error', () => {});
        resolve(response);
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  async function readAll(response: IncomingMessage): Promise<string[]> {
    expect(response.statusCode).toBe(200);
    let text = '';
    for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString('latin1');
    return text.split('\n').slice(0, -1);
  }

  async function expectExported(tenant: Tenant): Promise<void> {
    expect(await readAll(await open(tenant))).toHaveLength(LINES);
  }

  const cancelledExports = () =>
    stack.postgres('audit_entries').where({ project_id: hostile.project.id, outcome: 'cancelled' }).select('id');

  /** Takes one byte a second, until the connection ends. */
  function readSlowly(response: IncomingMessage): void {
    const timer = setInterval(() => response.read(1), 1_000);
    response.on('close', () => clearInterval(timer));
  }

  test('at one byte a second are cancelled and delay no other project', async () => {
    const slow = await Promise.all(Array.from({ length: EXPORTS_OF_PROJECT_MAX }, () => open(hostile)));
    slow.forEach(readSlowly);
    const beyond = await open(hostile);
    expect(beyond.statusCode).toBe(429);
    expect(beyond.headers['retry-after']).toBe('60');

    // It does not wait until the slow readers have lost their places.
    await expectExported(victim);
    expect(await cancelledExports()).toEqual([]);

    // All connections are closed, and the audit trail records the exports as cancelled.
    await eventually(async () => expect(await cancelledExports()).toHaveLength(slow.length), 4 * READER_TIMEOUT_MS);
    expect((await open(hostile)).statusCode).toBe(200);
  }, 240_000);

  test('at full speed delay no other project', async () => {
    let isOver = false;
    let read = 0;
    const attack = Array.from({ length: EXPORTS_OF_PROJECT_MAX }, async () => {
      while (!isOver) {
        await expectExported(hostile);
        read += 1;
      }
    });
    await eventually(() => expect(read).toBeGreaterThan(0));
    const readBefore = read;
    await expectExported(victim);
    const readMeanwhile = read - readBefore;
    isOver = true;
    await Promise.all(attack);
    // With equal shares each of the attackers reads about one meanwhile.
    expect(readMeanwhile).toBeLessThanOrEqual(3 * EXPORTS_OF_PROJECT_MAX);
  }, 240_000);

  test('leave an export complete and in order that loses its place repeatedly', async () => {
    const patient = await open(victim);
    // The client pauses after every 8 MiB, and other exports get its place in the pauses.
    const reading = (async () => {
      let text = '';
      for await (const chunk of patient as AsyncIterable<Buffer>) {
        const before = text.length;
        text += chunk.toString('latin1');
        const gulp = 8 * 1024 * 1024;
        if (Math.floor(before / gulp) !== Math.floor(text.length / gulp)) await delay(2_500);
      }
      return text.split('\n').slice(0, -1);
    })();
    let isOver = false;
    const attack = Array.from({ length: EXPORTS_OF_PROJECT_MAX }, async () => {
      while (!isOver) await readAll(await open(hostile));
    });
    const lines = await reading;
    isOver = true;
    await Promise.all(attack);
    const positions = lines.map((line) => {
      const { time, insert_id } = JSON.parse(line) as { time: string; insert_id: string };
      return `${time} ${insert_id}`;
    });
    expect(new Set(positions).size).toBe(LINES);
    expect(positions).toEqual([...positions].sort());
  }, 240_000);
});

describe('rate limits of privacy routes', () => {
  test('answer 429 with Retry-After: 60 to one project only, and accepted requests complete', async () => {
    const limited = await startErasureStack({
      ERASURES_PER_MINUTE: '3',
      EXPORTS_PER_MINUTE: '3',
      PRIVACY_READS_PER_MINUTE: '3',
    });
    try {
      const [hostile, victim] = [await limited.createTenant(), await limited.createTenant()];
      const ask = (tenant: Tenant, method: string, path: string) =>
        fetch(`${limited.processes.url}/api/gdpr${path}`, {
          method,
          headers: { 'X-API-Key': tenant.project.secretKey, connection: 'close' },
        });
      for (const [method, path] of [
        ['DELETE', '/users/alice'],
        ['GET', '/users/alice/export'],
        ['GET', '/audit'],
      ] as const) {
        // A minute may end in between.
        const answers = await Promise.all(Array.from({ length: 7 }, () => ask(hostile, method, path)));
        const refused = answers.filter(({ status }) => status === 429);
        expect(refused.length, path).toBeGreaterThanOrEqual(1);
        expect(answers.filter(({ status }) => status === 200).length, path).toBe(7 - refused.length);
        for (const { headers } of refused) expect(headers.get('Retry-After')).toBe('60');
        expect(await refused[0]?.json()).toEqual({ error: 'too many requests; the limit is 3 per minute for a key' });
        for (const answer of answers) await answer.body?.cancel().catch(() => {});
        expect((await ask(victim, method, path)).status, path).toBe(200);
      }
      const requests = await limited.postgres('erasure_requests').where({ project_id: hostile.project.id });
      expect(requests.filter(({ status }) => status === 'requested')).toEqual([]);
    } finally {
      await limited.close();
    }
  }, 240_000);
});
