// Unusual arguments of the Node and Python clients, and hosts that are not the service.
import { describe, expect, test } from 'vitest';
import { Client } from '../../clients/node/src/client.js';
import { runPythonScript } from '../support/client-drivers.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const HOST = 'http://127.0.0.1:9';
const typesOf = ({ requests }: ScriptedServer): string[] =>
  requests.flatMap(({ body }) => (body.events as { event_type: string }[]).map((event) => event.event_type));
const USERS = Array.from({ length: 20 }, (_, n) => `user-${n}`);

test('Node: an empty insert_id and an empty time are filled in, so that a repetition counts once', async () => {
  const server = await startScriptedServer();
  const client = new Client({ key: 'k', host: server.url });
  client.track({ event_type: 'a', insert_id: '', time: '' });
  await client.flush();
  expect(server.requests[0]?.body.events).toEqual([
    expect.objectContaining({
      insert_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    }),
  ]);
  await server.close();
});

describe('a host that redirects to a page which answers any request', () => {
  const redirecting = async (run: (server: ScriptedServer) => Promise<void>): Promise<void> => {
    const server = await startScriptedServer();
    server.pages.set('/login', 'sign in');
    server.answers.push({ status: 302, headers: { Location: '/login' } });
    await run(server);
    expect(server.requests).toHaveLength(1);
    await server.close();
  };

  test('Node: is reported', () =>
    redirecting(async ({ url }) => {
      const errors: [string, number][] = [];
      const client = new Client({ key: 'k', host: url, onError: ({ message }, lost) => errors.push([message, lost]) });
      client.track({ event_type: 'a' });
      await client.flush();
      expect(errors).toEqual([[`the request was redirected to ${url}/login`, 1]]);
    }));

  test('Python: is reported', () =>
    redirecting(async ({ url }) => {
      const printed = await runPythonScript(`
from event_analytics import Client
with Client("k", "${url}", on_error=lambda error, lost: print(error, lost)) as client:
    client.track("a")
`);
      expect(printed).toBe(`the request was redirected to ${url}/login 1`);
    }));
});

test('Node: an empty project id is no project id, as in the other clients', () => {
  const [without, empty] = [{}, { projectId: '' }].map((options) => new Client({ key: 'k', host: HOST, ...options }));
  const idOf = (client?: Client) => client?.assign('color', ['a'], { user_id: 'ada' }).assignment_id;
  expect(idOf(empty)).toBe(idOf(without));
});

test.each([[[1]], [[1, 1, 1]]])('Node: weights %j of two variants are refused for every user', (weights) => {
  const client = new Client({ key: 'k', host: HOST });
  for (const user_id of USERS) {
    expect(() => client.assign('color', ['a', 'b'], { user_id, weights })).toThrow('a weight for each variant');
  }
});

test('Python: weights of another length are refused for every user', async () => {
  const printed = await runPythonScript(`
from event_analytics import Client
client = Client("k", "${HOST}")
refused = 0
for weights in ([1], [1, 1, 1]):
    for n in range(${USERS.length}):
        try:
            client.assign("color", ["a", "b"], user_id=f"user-{n}", weights=weights)
        except ValueError:
            refused += 1
print(refused)
`);
  expect(Number(printed)).toBe(2 * USERS.length);
});

test('Python: properties that contain themselves raise a ValueError', async () => {
  const printed = await runPythonScript(`
from event_analytics import Client
client = Client("k", "${HOST}")
circle = {}
circle["circle"] = circle
try:
    client.track("a", event_properties=circle)
except ValueError as error:
    print(error)
`);
  expect(printed).toBe('properties contain themselves, or are nested too deeply');
});

test('Python: mappings of any class are properties, and ids and times of usual types are sent', async () => {
  const server = await startScriptedServer();
  await runPythonScript(`
from collections import UserDict
from datetime import date
from types import MappingProxyType
from uuid import UUID
from event_analytics import Client
user = UUID(int=7)
with Client("k", "${server.url}") as client:
    client.track("a", time=date(2026, 1, 2), event_properties=MappingProxyType({"n": float("nan"), "in": UserDict(b=1)}))
    client.track("b", time=1767312000.5, user_properties=UserDict(c=2))
    client.choice("color", ["only"], user_id=user)
    client.identify(user, user_properties=UserDict(d=3))
`);
  const [track, identify] = server.requests;
  const user = '00000000-0000-0000-0000-000000000007';
  expect(track?.body.events).toMatchObject([
    { time: '2026-01-02', event_properties: { n: null, in: { b: 1 } } },
    { time: 1767312000.5, user_properties: { c: 2 } },
    { event_type: 'service.exposure', user_id: user },
  ]);
  expect(identify?.body).toEqual({ user_id: user, user_properties: { d: 3 } });
  await server.close();
});

// Types of NumPy and pandas, which the client knows by name.
const TABLE_TYPES = `
from datetime import datetime, timezone
from types import SimpleNamespace
class NAType:
    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")
    def __repr__(self):
        return "<NA>"
class Number:
    def __init__(self, value):
        self.value = value
    def __repr__(self):
        return str(self.value)
    def tolist(self):
        return self.value
Number.__module__ = "numpy"
Number.dtype = SimpleNamespace(kind="f")
class Timestamp(datetime):
    def astimezone(self, zone):
        raise TypeError("Cannot convert tz-naive Timestamp")
    def to_pydatetime(self, warn=True):
        return datetime(self.year, self.month, self.day, tzinfo=timezone.utc)
NA = NAType()
`;

test('Python: missing values of tables are no ids, and their numbers are numbers', async () => {
  const server = await startScriptedServer();
  const printed = await runPythonScript(`${TABLE_TYPES}
from event_analytics import Client
with Client("k", "${server.url}") as client:
    missing = (NA, float("nan"), Number(float("nan")))
    for id in missing:
        client.track("a", user_id=id, device_id=Number(7.0), time=id, event_properties={"missing": id, "list": [id]})
        try:
            client.identify(id)
        except ValueError as error:
            print(error)
    client.track("b", time=Timestamp(2026, 1, 2), event_properties={"price": Number(1.5), "is_new": Number(True), "sizes": Number([1, 2])})
`);
  expect(printed.split('\n')).toEqual(Array(3).fill('identify needs a user_id'));
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const missing = { time, device_id: '7', event_properties: { missing: null, list: [null] } };
  const events = server.requests.flatMap(({ body }) => body.events);
  expect(events).toMatchObject([
    ...Array(3).fill(missing),
    { time: '2026-01-02T00:00:00.000Z', event_properties: { price: 1.5, is_new: true, sizes: [1, 2] } },
  ]);
  expect(events.some((event) => 'user_id' in event)).toBe(false);
  await server.close();
});

test('Node: a bigint in properties is sent as text, as in ids', async () => {
  const server = await startScriptedServer();
  const client = new Client({ key: 'k', host: server.url });
  client.track({ event_type: 'a', event_properties: { order: 9007199254740993n } });
  client.identify({ user_id: 'ada', user_properties: { account: 7n } });
  await client.flush();
  const [track, identify] = server.requests;
  expect(track?.body.events[0].event_properties).toEqual({ order: '9007199254740993' });
  expect(identify?.body.user_properties).toEqual({ account: '7' });
  await server.close();
});

describe('a query has its options and its key, and its answer is an object, or text in another format', () => {
  const CSV = { status: 200, headers: { 'Content-Type': 'text/csv' }, body: 'count\n7\n' };
  const REFUSED = { status: 400, body: '{"error":"a problem","details":[{"column":1}]}' };
  const OPTIONS = { limit: 5, offset: 10, timezone: 'Europe/Berlin' };

  async function startAnswering(): Promise<ScriptedServer> {
    const server = await startScriptedServer();
    server.answers.push({ status: 200, body: '{"rows":[{"count":7}]}' }, CSV, REFUSED);
    return server;
  }

  function expectAsked(server: ScriptedServer): void {
    expect(server.requests.map(({ path, headers, body }) => [path, headers['x-api-key'], body])).toEqual([
      ['/query', 'sk_a', { q: '* | count', format: 'json', ...OPTIONS }],
      ['/query', 'sk_a', { q: '* | count', format: 'csv' }],
      ['/query', 'sk_a', { q: 'x', format: 'json' }],
    ]);
  }

  test('Node', async () => {
    const server = await startAnswering();
    const client = new Client({ key: 'sk_a', host: `${server.url}//` });
    expect(await client.query('* | count', OPTIONS)).toEqual({ rows: [{ count: 7 }] });
    expect(await client.query('* | count', { format: 'csv' })).toBe(CSV.body);
    const problem = { status: 400, message: 'a problem', details: [{ column: 1 }] };
    await expect(client.query('x')).rejects.toMatchObject(problem);
    expectAsked(server);
    await server.close();
  });

  test('Python', async () => {
    const server = await startAnswering();
    const printed = await runPythonScript(`
from event_analytics import Client, ServiceError
client = Client("sk_a", "${server.url}//")
print(client.query("* | count", limit=5, offset=10, timezone="Europe/Berlin"))
print(repr(client.query("* | count", format="csv")))
try:
    client.query("x")
except ServiceError as error:
    print(error.status, error, error.details)
`);
    expect(printed.split('\n')).toEqual([
      "{'rows': [{'count': 7}]}",
      "'count\\n7\\n'",
      "400 a problem [{'column': 1}]",
    ]);
    expectAsked(server);
    await server.close();
  });
});

test('Python: a time with a time zone is sent in UTC', async () => {
  const server = await startScriptedServer();
  await runPythonScript(`
from datetime import datetime, timedelta, timezone
from event_analytics import Client
with Client("k", "${server.url}") as client:
    client.track("a", time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5, minutes=30))))
`);
  expect(server.requests[0]?.body.events).toMatchObject([{ time: '2026-01-01T21:34:05.000Z' }]);
  await server.close();
});

describe('a batch with an invalid event at its end', () => {
  test('Node: throws, and queues none of its events', async () => {
    const server = await startScriptedServer();
    const client = new Client({ key: 'k', host: server.url });
    const events = [{ event_type: 'a' }, { event_type: '' }];
    expect(() => client.trackBatch(events)).toThrow('an event needs an event_type');
    client.trackBatch([{ event_type: 'b' }, { event_type: 'c' }]);
    await client.flush();
    expect(typesOf(server)).toEqual(['b', 'c']);
    await server.close();
  });

  test('Python: raises, and queues none of its events', async () => {
    const server = await startScriptedServer();
    const printed = await runPythonScript(`
from event_analytics import Client
with Client("k", "${server.url}") as client:
    for invalid in ({"event_type": ""}, {"type": "a"}, {}):
        try:
            client.track_batch([{"event_type": "a"}, invalid])
        except (TypeError, ValueError) as error:
            print(str(error).split(":")[0])
    client.track_batch({"event_type": name, "user_id": 7} for name in "bc")
`);
    expect(printed.split('\n')).toEqual([
      'an event needs an event_type',
      "an event has no 'type'",
      'an event needs an event_type',
    ]);
    expect(typesOf(server)).toEqual(['b', 'c']);
    await server.close();
  });
});

describe('an exposure that a full queue refuses', () => {
  test('Node: is recorded by the next choice', async () => {
    const server = await startScriptedServer();
    let lost = 0;
    const client = new Client({ key: 'k', host: server.url, queueMax: 1, onError: () => (lost += 1) });
    client.track({ event_type: 'a' });
    for (let choice = 0; choice < 3; choice += 1) {
      client.choice('color', ['red', 'blue'], { user_id: 'ada' });
      await client.flush();
    }
    expect([lost, ...typesOf(server)]).toEqual([1, 'a', 'service.exposure']);
    await server.close();
  });

  test('Python: is recorded by the next choice', async () => {
    const server = await startScriptedServer();
    const printed = await runPythonScript(`
from event_analytics import Client
with Client("k", "${server.url}", queue_max=1, on_error=lambda error, lost: print(error)) as client:
    client.track("a")
    for _ in range(3):
        client.choice("color", ["red", "blue"], user_id="ada")
        client.flush()
`);
    expect(printed).toBe('the queue is full: 1 wait to be sent');
    expect(typesOf(server)).toEqual(['a', 'service.exposure']);
    await server.close();
  });
});

describe('an exposure whose properties cannot be serialized', () => {
  test('Node: throws, and is recorded by the next choice', async () => {
    const server = await startScriptedServer();
    const client = new Client({ key: 'k', host: server.url });
    const circle: Record<string, unknown> = {};
    circle.circle = circle;
    const choose = (version: unknown) =>
      client.choice('color', ['only'], { user_id: 'ada', version: version as string });
    expect(() => choose(circle)).toThrow('circular');
    expect(choose('2')).toBe('only');
    await client.flush();
    expect(typesOf(server)).toEqual(['service.exposure']);
    await server.close();
  });

  test('Python: raises, and is recorded by the next choice', async () => {
    const server = await startScriptedServer();
    const printed = await runPythonScript(`
from event_analytics import Client
circle = {}
circle["circle"] = circle
with Client("k", "${server.url}") as client:
    for version in (circle, "2"):
        try:
            print(client.choice("color", ["only"], user_id="ada", version=version))
        except ValueError as error:
            print(error)
`);
    expect(printed).toBe('properties contain themselves, or are nested too deeply\nonly');
    expect(typesOf(server)).toEqual(['service.exposure']);
    await server.close();
  });
});
