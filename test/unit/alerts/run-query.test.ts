// What alerts and reports make of the answers of queries, and what is said when one cannot be run.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createProjectPasses } from '../../../src/access/project-pass.js';
import { type AlertAnswer, createAlertQueries } from '../../../src/alerts/run-query.js';
import { DEFINITIONS_UNREAD } from '../../../src/definitions/reader.js';
import type { ProjectId } from '../../../src/platform/ids.js';

const QUESTION = {
  projectId: '0190f0a0-0000-7000-8000-000000000001' as ProjectId,
  personId: 'service',
  query: '* | today | count',
  timezone: 'UTC',
};

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(url: string, signal = new AbortController().signal) {
  const logged: unknown[] = [];
  const run = createAlertQueries({
    passes: createProjectPasses('x'.repeat(32)),
    queryUrl: () => url,
    queryTimeoutMs: -4500,
    log: { warn: (entry: unknown) => void logged.push(entry) },
  });
  const answer: AlertAnswer = await run(QUESTION, signal);
  return { answer, logged };
}

test.each([
  ['nothing listens', async () => 'http://127.0.0.1:1', 'the service does not answer', 'fetch failed'],
  ['no answer comes', () => listen(() => {}), 'no answer in time', 'aborted due to timeout'],
  ['a proxy answers', () => listen((_, res) => res.end('<html>')), 'the answer is not JSON', 'JSON'],
])('when %s, the reason is said and logged', async (_when, start, reason, logged) => {
  const asked = await ask(await start());
  expect(asked.answer).toEqual({ kind: 'failed', error: `the query could not be run: ${reason}` });
  expect(asked.logged).toHaveLength(1);
  expect(String((asked.logged[0] as { err: unknown }).err)).toContain(logged);
});

test('an answer without the definitions of the project is a failure, and no 0', async () => {
  const answerOf = async (warnings: string[]) => {
    const body = { columns: ['count'], rows: [{ count: 0 }], metadata: { warnings } };
    return (await ask(await listen((_, res) => res.end(JSON.stringify(body))))).answer;
  };
  expect(await answerOf(['no event "visited" in this project'])).toMatchObject({ kind: 'rows', rows: [{ count: 0 }] });
  expect(await answerOf([DEFINITIONS_UNREAD])).toEqual({ kind: 'failed', error: DEFINITIONS_UNREAD });
});

test('a project with too many queries is asked again later: that is no failure', async () => {
  const url = await listen((_, res) => res.writeHead(429).end('{"error":"too many queries"}'));
  expect((await ask(url)).answer).toEqual({ kind: 'busy' });
});

test.each([
  [1, false],
  [2, true],
])('of a query with %i rows, one row that was read is not all: %s', async (total, isTruncated) => {
  const url = await listen((_, res) => res.end(JSON.stringify({ columns: ['count'], rows: [{ count: 0 }], total })));
  expect((await ask(url)).answer).toMatchObject({ kind: 'rows', total, isTruncated });
});

test('a large answer is not read', async () => {
  const url = await listen((_, res) => {
    res.setHeader('Content-Length', 4 * 1024 * 1024 + 1);
    res.write('{');
  });
  const error = 'the answer has more than 4194304 bytes; narrow the query';
  expect((await ask(url)).answer).toEqual({ kind: 'failed', error });
});

test('the end of a process is not logged as a failure', async () => {
  expect((await ask('http://127.0.0.1:1', AbortSignal.abort())).logged).toEqual([]);
});
