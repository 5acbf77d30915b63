// Hostile requests: each has a bounded cost and a clear response, and other requests are served
// meanwhile.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { send as ask, createTeam, createTeamProject, sessionCookie, signIn } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

const MEBIBYTE = 1024 * 1024;

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

const send = (body: string | Buffer, headers?: Record<string, string>) =>
  track(processes.url, project.secretKey, body, headers);

function residentMebibytes(): number {
  const status = readFileSync(`/proc/${processes.get('web').pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const eventWith = (properties: string): string => `{"event_type":"a","event_properties":${properties}}`;
const manyKeys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

describe('hostile bodies', () => {
  test.each<[what: string, body: () => string | Buffer, headers: Record<string, string>, answer: object]>([
    ['above the size limit', () => Buffer.alloc(6 * MEBIBYTE, 32), {}, { status: 413 }],
    [
      'with a compression bomb of 200 MiB in 200 KiB',
      () => gzipSync(Buffer.alloc(200 * MEBIBYTE, 32)),
      { 'Content-Encoding': 'gzip' },
      { status: 413 },
    ],
    ['that is not compressed as its header claims', () => '{}', { 'Content-Encoding': 'br' }, { status: 400 }],
    ['with a million nested arrays', () => nested(1_000_000), {}, { status: 400 }],
    [
      'with a property of a million levels',
      () => eventWith(`{"a":${nested(1_000_000)}}`),
      {},
      { body: { accepted: 0 } },
    ],
    [
      'with a property of the maximum depth',
      () => eventWith(`{"a":${nested(500)},"ip":"\\u0000"}`),
      {},
      { body: { accepted: 1 } },
    ],
    ['with a property above the maximum depth', () => eventWith(`{"a":${nested(501)}}`), {}, { body: { accepted: 0 } }],
    [
      'with a deep unknown field in an event that overrides client fields',
      () => `{"event_type":"a\\u0000","ip":null,"junk":${nested(100_000)}}`,
      {},
      { body: { accepted: 1 } },
    ],
    ['with 400,000 property keys', () => eventWith(manyKeys(400_000)), {}, { body: { accepted: 0 } }],
    [
      'with 400,000 unknown keys in an event',
      () => `{"event_type":"a",${manyKeys(400_000).slice(1)}`,
      {},
      { body: { accepted: 1 } },
    ],
    ['with a million events', () => `{"events":[${'0,'.repeat(1_000_000)}0]}`, {}, { status: 400 }],
    ['of bytes that are not UTF-8', () => Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), {}, { status: 400 }],
    [
      'with a text that is not UTF-8',
      () => Buffer.from(eventWith('{"a":"\xff"}'), 'latin1'),
      {},
      { status: 400, body: { error: 'the request body is not valid UTF-8' } },
    ],
    [
      'with the property keys __proto__ and constructor',
      () => eventWith('{"__proto__":{"x":1},"constructor":1}'),
      {},
      { body: { accepted: 1 } },
    ],
    ['with an event under __proto__', () => '{"__proto__":{"event_type":"a"}}', {}, { status: 400 }],
    ['with a lone surrogate and NUL', () => eventWith('{"a":"\\ud800\\u0000"}'), {}, { body: { accepted: 1 } }],
  ])('a body %s is answered as documented', async (_what, body, headers, answer) => {
    expect(await send(body(), headers)).toMatchObject(answer);
  });

  test('fifteen concurrent compression bombs use no more memory than the limit of a body each', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MEBIBYTE, 32));
    const before = residentMebibytes();
    const answers = await Promise.all(Array.from({ length: 15 }, () => send(bomb, { 'Content-Encoding': 'gzip' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413]));
    // 15 times the limit of 5 MiB, and uncollected garbage: far from the 3,000 MiB of the bombs.
    expect(residentMebibytes() - before).toBeLessThan(750);
  });
});

describe('hostile connections', () => {
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(processes.url).port), '127.0.0.1', () => resolve(socket));
      socket.once('error', reject);
    });

  test('300 connections with unfinished headers are closed, and other requests are served meanwhile', async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, open));
    let closed = 0;
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.once('close', () => {
        closed += 1;
      });
      socket.resume();
      socket.write('POST /track HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    }
    expect(await send('{"event_type":"a"}')).toMatchObject({ status: 200 });
    await eventually(async () => expect(closed).toBe(sockets.length), 25_000);
  }, 40_000);

  test('100 large unfinished bodies use no more memory than the share of a project, and the rest get 429', async () => {
    const before = residentMebibytes();
    // Once for all: headers that begin ten seconds after their connection are refused.
    const unfinished = Buffer.alloc(5 * MEBIBYTE - 1, 32);
    const sockets = await Promise.all(Array.from({ length: 100 }, open));
    let answers = '';
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        answers += chunk;
      });
      const head = `POST /track HTTP/1.1\r\nHost: x\r\nX-API-Key: ${project.secretKey}\r\nContent-Length: ${5 * MEBIBYTE}\r\n\r\n`;
      socket.write(head);
      socket.write(unfinished);
    }
    // 19 bodies of 5 MiB are as many as fit into three quarters of the 128 MiB that a process holds
    // at a time.
    await eventually(() => expect(answers.match(/HTTP\/1.1 429 /g)).toHaveLength(81), 60_000);
    expect(answers.match(/Retry-After: 60\r\n/g)).toHaveLength(81);
    expect(answers).toContain('{"error":"too many request bytes are in flight; try again in a minute"}');
    // Twice, for uncollected garbage.
    expect(residentMebibytes() - before).toBeLessThan(2 * 128 + 64);
    // The rest of the memory stays available to other projects.
    const large = JSON.stringify({ event_type: 'a', ignored: 'x'.repeat(4 * MEBIBYTE) });
    const other = await createTestProject(databases);
    expect(await track(processes.url, other.publicKey, large)).toMatchObject({ status: 200 });
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect(await send('{"event_type":"a"}')).toMatchObject({ status: 200 }));
  }, 120_000);

  test('200 unfinished bodies of one session use no more memory than the share of a person, and the rest get 429', async () => {
    const postgres = createPostgres(databases.config);
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const outsider = await signIn(postgres);
    await postgres.destroy();
    const bytes = MEBIBYTE / 2;
    const unfinished = Buffer.alloc(bytes - 1, 32);
    const head = [
      `POST /api/projects/${id}/dashboards/${newUuidV7()}/draft HTTP/1.1`,
      ...['Host: x', `Cookie: ${sessionCookie(people.member.session)}`, `Content-Length: ${bytes}`],
    ].join('\r\n');
    const sockets = await Promise.all(Array.from({ length: 200 }, open));
    let answers = '';
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        answers += chunk;
      });
      socket.write(`${head}\r\n\r\n`);
      socket.write(unfinished);
    }
    // 96 bodies of half a MiB are three quarters of the 64 MiB that a process holds at a time.
    await eventually(() => expect(answers.match(/HTTP\/1.1 429 /g)).toHaveLength(104), 30_000);
    expect(answers).toContain('{"error":"too many request bytes are in flight; try again in a minute"}');
    // The rest stays available to other people.
    const create = { session: outsider.session, body: { name: 'Other' } };
    expect((await ask(processes.url, 'POST /api/orgs', create)).status).toBe(201);
    for (const socket of sockets) socket.destroy();
    const own = { session: people.member.session, body: { name: 'Own' } };
    await eventually(async () => expect((await ask(processes.url, 'POST /api/orgs', own)).status).toBe(201));
  }, 60_000);

  test('a body of a million one-byte chunks uses no more memory than its size', async () => {
    const before = residentMebibytes();
    const sockets = await Promise.all(Array.from({ length: 4 }, open));
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.resume();
      socket.write(
        `POST /track HTTP/1.1\r\nHost: x\r\nX-API-Key: ${project.secretKey}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
    }
    const chunks = Buffer.from('1\r\n \r\n'.repeat(100_000));
    for (let round = 0; round < 10; round++) {
      await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(chunks, resolve))));
    }
    expect(await send('{"event_type":"a"}')).toMatchObject({ status: 200 });
    // Four million chunks that are kept one by one take more than 800 MiB.
    expect(residentMebibytes() - before).toBeLessThan(400);
    for (const socket of sockets) socket.destroy();
  }, 120_000);

  test('a thousand headers are answered with 431', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x-${index}`, 'a'.repeat(50)]));
      request(`${processes.url}/track`, { method: 'POST', headers }, (response) => resolve(response.statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(431);
  });

  test('a truncated body is a client error', async () => {
    const socket = await open();
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.once('close', () => resolve(text));
    });
    const head = `POST /track HTTP/1.1\r\nHost: x\r\nX-API-Key: ${project.secretKey}\r\nContent-Length: 100\r\n\r\n`;
    socket.end(`${head}{"event_type":`);
    await answer;
    expect(await send('{"event_type":"a"}')).toMatchObject({ status: 200 });
  });
});
