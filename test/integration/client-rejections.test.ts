// What the Node and Python clients do with responses other than success: bodies that a proxy finds
// too large, and the message of an error. And when and in which bodies they send what waits.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Client } from '../../clients/node/src/client.js';
import { runPythonScript } from '../support/client-drivers.js';
import { eventually } from '../support/eventually.js';
import { startScriptedServer } from '../support/scripted-server.js';

const PROXY_BYTES_MAX = 20_000;

/** Ids of the events that a proxy with a limit lets through, in order. */
async function startLimitedProxy(): Promise<{ host: string; users: string[]; server: Server }> {
  const users: string[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.length > PROXY_BYTES_MAX) {
      res.writeHead(413).end('<html>413 Request Entity Too Large</html>');
      return;
    }
    for (const { user_id } of JSON.parse(body.toString()).events) users.push(user_id);
    res.end('{"accepted":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { host: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, users, server };
}

const USERS = Array.from({ length: 50 }, (_, index) => `u${index}`);
/** The body of this event alone is above the limit. */
const TOO_LARGE_USER = 'u30';

describe('a backlog above the limit of a proxy is sent in halves, and only the event that is too large is lost', () => {
  test('Node', async () => {
    const { host, users, server } = await startLimitedProxy();
    const losses: [string, number][] = [];
    const client = new Client({ key: 'k', host, onError: ({ message }, lost) => losses.push([message, lost]) });
    for (const user_id of USERS) {
      const text = 'ы'.repeat(user_id === TOO_LARGE_USER ? PROXY_BYTES_MAX : 500);
      client.track({ event_type: 'a', user_id, event_properties: { text } });
    }
    await client.flush();
    expect(users).toEqual(USERS.filter((user) => user !== TOO_LARGE_USER));
    expect(losses).toEqual([['<html>413 Request Entity Too Large</html>', 1]]);
    server.closeAllConnections();
    server.close();
  });

  test('Python', async () => {
    const { host, users, server } = await startLimitedProxy();
    const printed = await runPythonScript(`
from event_analytics import Client
client = Client("k", "${host}", on_error=lambda error, lost: print(error, lost))
for n in range(50):
    text = "ы" * (${PROXY_BYTES_MAX} if f"u{n}" == "${TOO_LARGE_USER}" else 500)
    client.track("a", user_id=f"u{n}", event_properties={"text": text})
print(client.flush(30))
`);
    expect(printed).toBe('<html>413 Request Entity Too Large</html> 1\nTrue');
    expect(users).toEqual(USERS.filter((user) => user !== TOO_LARGE_USER));
    server.closeAllConnections();
    server.close();
  });
});

describe('a backlog is sent in requests of at most 500 events and a million characters', () => {
  const SIZES = [500, 500, 200, 10, 10, 5];

  test('Node', async () => {
    const server = await startScriptedServer();
    const client = new Client({ key: 'k', host: server.url });
    for (let n = 0; n < 1200; n += 1) client.track({ event_type: 'a' });
    await client.flush();
    const text = 'x'.repeat(99_000);
    for (let n = 0; n < 25; n += 1) client.track({ event_type: 'b', event_properties: { text } });
    await client.flush();
    expect(server.requests.map(({ body }) => body.events.length)).toEqual(SIZES);
    await server.close();
  });

  test('Python', async () => {
    const server = await startScriptedServer();
    await runPythonScript(`
from event_analytics import Client
with Client("k", "${server.url}") as client:
    for count, text in ((1200, ""), (25, "x" * 99_000)):
        with client._queue._changed:
            for _ in range(count):
                client.track("a", event_properties={"text": text})
        client.flush(30)
`);
    expect(server.requests.map(({ body }) => body.events.length)).toEqual(SIZES);
    await server.close();
  });
});

describe('an event after a flush is sent after two seconds', () => {
  test('Node', async () => {
    const server = await startScriptedServer();
    const client = new Client({ key: 'k', host: server.url });
    client.track({ event_type: 'first' });
    await client.flush();
    client.track({ event_type: 'second' });
    await eventually(() => expect(server.requests).toHaveLength(2), 10_000);
    await server.close();
  });

  test('Python', async () => {
    const server = await startScriptedServer();
    // Without the end of the process, which sends what is left.
    await runPythonScript(`
import os, time
from event_analytics import Client
client = Client("k", "${server.url}")
client.track("first")
client.flush(30)
client.identify("ada")
client.track("second")
until = time.monotonic() + 20
while client._queue._settled < 3 and time.monotonic() < until:
    time.sleep(0.05)
os._exit(0)
`);
    expect(server.requests.map(({ path }) => path)).toEqual(['/track', '/identify', '/track']);
    await server.close();
  });
});

describe.concurrent('a request without a response is sent again after ten seconds, and nothing is lost', () => {
  test('Node', async () => {
    const server = await startScriptedServer();
    server.answers.push({ status: 0 });
    const errors: Error[] = [];
    const client = new Client({ key: 'k', host: server.url, onError: (error) => errors.push(error) });
    client.track({ event_type: 'a' });
    await client.flush();
    expect([server.requests.map(({ text }) => text), errors]).toEqual([Array(2).fill(server.requests[0]?.text), []]);
    await server.close();
  });

  test('Python', async () => {
    const server = await startScriptedServer();
    server.answers.push({ status: 0 });
    const printed = await runPythonScript(`
from event_analytics import Client
client = Client("k", "${server.url}", on_error=lambda error, lost: print(error))
client.track("a")
print(client.flush(60))
`);
    expect(printed).toBe('True');
    expect(server.requests.map(({ text }) => text)).toEqual(Array(2).fill(server.requests[0]?.text));
    await server.close();
  });
});

describe('the error of a rejected request', () => {
  test.each([
    ['{"error":"the key is not valid"}', 'the key is not valid'],
    ['{"error":{"code":403}}', '{"error":{"code":403}}'],
    ['<html>', '<html>'],
    ['', 'status 403'],
  ])('Node: %s has the message %s', async (body, message) => {
    const server = await startScriptedServer();
    server.answers.push({ status: 403, body });
    const errors: Error[] = [];
    const client = new Client({ key: 'k', host: server.url, onError: (error) => errors.push(error) });
    client.track({ event_type: 'a' });
    await client.flush();
    expect(errors).toEqual([expect.objectContaining({ status: 403, message })]);
    await server.close();
  });
});

describe('a page with status 200, of a network or a proxy, is no answer of the service', () => {
  const PAGE = { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: '<h1>Sign in</h1>' };

  test('Node: the request is repeated, then reported as lost', async () => {
    const server = await startScriptedServer();
    const losses: [string, number][] = [];
    const client = new Client({
      key: 'k',
      host: server.url,
      onError: ({ message }, lost) => losses.push([message, lost]),
    });
    server.answers.push(PAGE);
    client.track({ event_type: 'a' });
    await client.flush();
    expect([server.requests.map(({ text }) => text), losses]).toEqual([Array(2).fill(server.requests[0]?.text), []]);
    server.answers.push(...Array(4).fill(PAGE));
    client.track({ event_type: 'b' });
    await client.flush();
    expect(losses).toEqual([[`a page answered instead of the service at ${server.url}/track`, 1]]);
    await server.close();
  });

  test('Node: a query rejects with it', async () => {
    const server = await startScriptedServer();
    server.answers.push(PAGE);
    const answered = new Client({ key: 'k', host: server.url }).query('*');
    await expect(answered).rejects.toThrow(`a page answered instead of the service at ${server.url}/query`);
    await server.close();
  });

  test('Python: so it is, and an error without a text has its status', async () => {
    const server = await startScriptedServer();
    server.answers.push(PAGE, { status: 200 }, ...Array(4).fill(PAGE), { status: 403, body: '' });
    const printed = await runPythonScript(`
from event_analytics import Client
client = Client("k", "${server.url}", on_error=lambda error, lost: print(error, lost))
for event_type in "abc":
    client.track(event_type)
    client.flush(30)
`);
    expect(printed).toBe(`a page answered instead of the service at ${server.url}/track 1\nstatus 403 1`);
    await server.close();
  });
});

describe('an exposure is recorded again', () => {
  afterEach(() => void vi.useRealTimers());

  test('Node: half an hour after it was recorded, also when it was chosen meanwhile', async () => {
    const server = await startScriptedServer();
    vi.useFakeTimers({ toFake: ['Date'] });
    const client = new Client({ key: 'k', host: server.url });
    for (const minute of ['00', '20', '29', '30', '50']) {
      vi.setSystemTime(`2026-11-02T12:${minute}:00Z`);
      client.choice('color', ['red', 'blue'], { user_id: 'ada' });
    }
    await client.flush();
    const times = server.requests.flatMap(({ body }) => body.events).map(({ time }) => time);
    expect(times).toEqual(['2026-11-02T12:00:00.000Z', '2026-11-02T12:30:00.000Z']);
    await server.close();
  });

  test('Python: half an hour after it was recorded, also when it was chosen meanwhile', async () => {
    const server = await startScriptedServer();
    const printed = await runPythonScript(`
from types import SimpleNamespace
import event_analytics._client as module
minute = 0
module.time = SimpleNamespace(monotonic=lambda: minute * 60)
with module.Client("k", "${server.url}") as client:
    for minute in (0, 20, 29, 30, 50):
        client.choice("color", ["red", "blue"], user_id="ada")
        print(minute, client._queue._added)
`);
    expect(printed.split('\n')).toEqual(['0 1', '20 1', '29 1', '30 2', '50 2']);
    await server.close();
  });

  test('Node: after the clock was set back', async () => {
    const server = await startScriptedServer();
    vi.useFakeTimers({ toFake: ['Date'] });
    const client = new Client({ key: 'k', host: server.url });
    const choose = () => client.choice('color', ['red', 'blue'], { user_id: 'ada' });
    vi.setSystemTime('2026-11-02T12:00:00Z');
    choose();
    vi.setSystemTime('2026-11-01T12:00:00Z');
    choose();
    choose();
    await client.flush();
    const times = server.requests.flatMap(({ body }) => body.events).map(({ time }) => time);
    expect(times).toEqual(['2026-11-02T12:00:00.000Z', '2026-11-01T12:00:00.000Z']);
    await server.close();
  });
});
