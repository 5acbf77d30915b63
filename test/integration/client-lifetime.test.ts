// Shutdown and memory of the Node and Python clients when the service does not respond.
import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test, vi } from 'vitest';
import { Client } from '../../clients/node/src/client.js';
import { packageRoot } from '../../src/platform/paths.js';
import { runPython, runPythonScript } from '../support/client-drivers.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const SILENT = { status: 0 };
const eventTypes = ({ requests }: ScriptedServer) =>
  requests.flatMap(({ body }) => body.events).map(({ event_type }) => event_type);

const idsOf = (event: Record<string, unknown>) =>
  ['user_id', 'device_id', 'session_id', 'insert_id'].map((field) => event[field]);

/** A server for one test, because the tests run concurrently. */
async function withServer(run: (server: ScriptedServer) => Promise<void>): Promise<void> {
  const server = await startScriptedServer();
  try {
    await run(server);
  } finally {
    await server.close();
  }
}

/** A server that reads and forgets bodies of any size. */
async function withDiscardingServer(run: (host: string) => Promise<void>): Promise<void> {
  const server = createServer((req, res) => req.resume().on('end', () => res.end('{}')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe.concurrent('client shutdown and memory', () => {
  test('Node: close() ends within ten seconds, once, and reports lost events', () =>
    withServer(async (server) => {
      server.answers.push(SILENT, SILENT);
      const errors: [string, number][] = [];
      const onError = (error: Error, lost: number) => errors.push([error.message, lost]);
      const client = new Client({ key: 'k', host: server.url, onError });
      for (let n = 0; n < 12; n += 1) client.track({ event_type: 'a' });
      client.identify({ user_id: 'ada' });
      const startedAt = Date.now();
      const closed = client.close();
      expect(client.close()).toBe(closed);
      await closed;
      // A third request would be answered, and none of these events lost.
      expect(Date.now() - startedAt).toBeGreaterThan(9_000);
      client.track({ event_type: 'late' });
      expect(errors.map(([, lost]) => lost).reduce((sum, lost) => sum + lost)).toBe(14);
      expect(errors.at(-1)).toEqual(['the client is closed', 1]);
    }));

  test('Node: events in flight count towards the queue limit', () =>
    withServer(async (server) => {
      server.answers.push(SILENT);
      const errors: string[] = [];
      const client = new Client({
        key: 'k',
        host: server.url,
        queueMax: 15,
        onError: ({ message }) => errors.push(message),
      });
      for (let n = 0; n < 10; n += 1) client.track({ event_type: 'a' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      for (let n = 0; n < 7; n += 1) client.track({ event_type: 'b' });
      expect(errors).toEqual(Array(2).fill('the queue is full: 15 wait to be sent'));
    }));

  test('Node: large events fill the queue before it has as many as it may have', () =>
    withDiscardingServer(async (host) => {
      const errors: string[] = [];
      const onError = ({ message }: Error) => errors.push(message);
      const track25 = (client: Client) => {
        for (let n = 0; n < 25; n += 1) {
          client.track({ event_type: 'a', event_properties: { text: 'x'.repeat(1_000_000) } });
        }
        return client.flush();
      };
      const client = new Client({ key: 'k', host, onError });
      await track25(client);
      expect(errors).toEqual(Array(5).fill(expect.stringMatching(/^the queue is full: 200\d{5} characters wait/)));
      // What was sent leaves room.
      await track25(client);
      expect(errors).toHaveLength(10);
      await track25(new Client({ key: 'k', host, queueMax: 20_000, onError }));
      expect(errors).toHaveLength(10);
    }));

  test('Node: flush() does not wait for what is tracked afterwards', async () => {
    const posted: string[] = [];
    // Each request brings a further event, as on a busy server.
    const server = createServer((req, res) => {
      posted.push(req.url ?? '');
      if (posted.length < 30) client.track({ event_type: 'later' });
      res.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = new Client({ key: 'k', host: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    client.track({ event_type: 'first' });
    await client.flush();
    expect(posted).toHaveLength(1);
    server.closeAllConnections();
    server.close();
  });

  test('Node: the process exits by itself after the last event is sent', () =>
    withServer(async (server) => {
      const file = join(tmpdir(), `event-analytics-end-${process.pid}.mjs`);
      const { outputFiles } = await build({
        stdin: {
          contents: `import { Client } from './client.js'; new Client({ key: 'k', host: '${server.url}' }).track({ event_type: 'last' });`,
          resolveDir: join(packageRoot, 'clients', 'node', 'src'),
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        write: false,
      });
      writeFileSync(file, outputFiles[0]?.text ?? '');
      const child = spawn(process.execPath, [file], { stdio: 'inherit' });
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
      rmSync(file);
      expect(eventTypes(server)).toEqual(['last']);
    }));

  test('Node: pauses between retries leave no abort listeners', () =>
    withServer(async (server) => {
      server.answers.push({ status: 503 }, { status: 503 });
      const signals: AbortSignal[] = [];
      class Recorded extends AbortController {
        constructor() {
          super();
          signals.push(this.signal);
        }
      }
      vi.stubGlobal('AbortController', Recorded);
      const client = new Client({ key: 'k', host: server.url });
      vi.unstubAllGlobals();
      client.track({ event_type: 'a' });
      await client.flush();
      expect(server.requests).toHaveLength(3);
      expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0]);
    }));

  test('Node: an onError that throws or rejects does not end the process', () =>
    withServer(async (server) => {
      server.answers.push({ status: 400 }, { status: 400 });
      const rejections: unknown[] = [];
      const listen = (reason: unknown) => rejections.push(reason);
      process.on('unhandledRejection', listen);
      const thrown = new Error('of the callback');
      const failures: (() => Promise<void>)[] = [
        () => Promise.reject(thrown),
        () => {
          throw thrown;
        },
      ];
      for (const onError of failures) {
        const client = new Client({ key: 'k', host: server.url, onError });
        client.track({ event_type: 'a' });
        await client.close();
        client.track({ event_type: 'late' });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      process.off('unhandledRejection', listen);
      expect(rejections.filter((reason) => reason === thrown)).toEqual([]);
    }));

  test('Node: ids are sent as text, except numbers that JavaScript cannot hold exactly', () =>
    withServer(async (server) => {
      const client = new Client({ key: 'k', host: server.url });
      const ids = [42, 1234567890123456789n, 2 ** 53, true] as unknown as string[];
      for (const id of ids)
        client.track({ event_type: 'a', user_id: id, device_id: id, session_id: id, insert_id: id });
      await client.flush();
      expect(server.requests[0]?.body.events.map(idsOf)).toEqual(
        ['42', '1234567890123456789', 2 ** 53, true].map((id) => [id, id, id, id]),
      );
      expect(() => client.identify({ user_id: ids[3] as string })).toThrow(TypeError);
    }));

  const tracked = (count: number) => Array.from({ length: count }, () => ({ call: 'track', event_type: 'a' }));

  test('Python: close() ends within ten seconds, once, and reports lost events', () =>
    withServer(async (server) => {
      server.answers.push(SILENT, SILENT);
      const calls = [...tracked(12), { call: 'close' }, { call: 'close' }, { call: 'track', event_type: 'late' }];
      const { lost, seconds } = await runPython({ calls, key: 'k', host: server.url });
      expect(seconds).toBeGreaterThan(9);
      expect(lost).toBe(13);
    }));

  test('Python: events in flight count towards the queue limit', () =>
    withServer(async (server) => {
      server.answers.push(SILENT);
      const { lost } = await runPython({
        calls: tracked(17),
        key: 'k',
        host: server.url,
        queue_max: 15,
        flush_timeout: 0.1,
      });
      // Two are refused; the rest waits until the process ends, and is lost only then.
      expect(lost).toBe(2);
    }));

  test('Python: large events fill the queue before it has as many as it may have', () =>
    withDiscardingServer(async (host) => {
      const printed = await runPythonScript(`
from event_analytics import Client
errors = []
def track_25(**options):
    client = Client("k", "${host}", on_error=lambda error, lost: errors.append(str(error)), **options)
    client._queue._deliver, deliver = lambda batch: released.wait(30) and deliver(batch), client._queue._deliver
    for attempt in range(2):
        released.clear()
        for _ in range(25):
            client.track("a", event_properties={"text": "x" * 1_000_000})
        released.set()
        print(len(errors), client.flush(30))
from threading import Event
released = Event()
track_25()
track_25(queue_max=20_000)
print(errors[0])
`);
      const refusal = expect.stringMatching(/^the queue is full: 200\d{5} characters wait/);
      expect(printed.split('\n')).toEqual(['5 True', '10 True', '10 True', '10 True', refusal]);
    }));

  test('Python: a thread that could not start is started by the next event', () =>
    withServer(async (server) => {
      const printed = await runPythonScript(`
import threading
from event_analytics import Client
start = threading.Thread.start
def fail(thread):
    threading.Thread.start = start
    raise RuntimeError("can't start new thread")
threading.Thread.start = fail
client = Client("k", "${server.url}")
try:
    client.track("refused")
except RuntimeError as error:
    print(error)
client.track("next")
print(client.flush(5))
`);
      expect(printed).toBe("can't start new thread\nTrue");
      expect(eventTypes(server)).toEqual(['next']);
    }));

  test('Python: waiting events are sent when the process exits', () =>
    withServer(async (server) => {
      await runPython({ calls: tracked(3), key: 'k', host: server.url, flush: false, end: true });
      expect(eventTypes(server)).toEqual(['a', 'a', 'a']);
    }));

  test('Python: closed clients leave no threads and no objects, and every loss is reported before close() returns', () =>
    withServer(async (server) => {
      server.answers.push(...Array(30).fill({ status: 403 }));
      const printed = await runPythonScript(`
import gc, threading
from event_analytics import Client
from event_analytics._queue import SendQueue
lost = []
for n in range(30):
    with Client("k", "${server.url}", on_error=lambda error, count: lost.append(count)) as client:
        client.track("a")
del client
gc.collect()
print(threading.active_count(), sum(isinstance(kept, SendQueue) for kept in gc.get_objects()), sum(lost))
`);
      expect(printed).toBe('1 0 30');
      expect(server.requests).toHaveLength(30);
    }));

  test('Python: flush() in on_error does not wait, and what is queued there is sent', () =>
    withServer(async (server) => {
      server.answers.push({ status: 400 });
      const printed = await runPythonScript(`
from event_analytics import Client
def on_error(error, lost):
    client.track("loss")
    client.flush()
client = Client("k", "${server.url}", on_error=on_error)
client.track("lost")
client.flush(30)
client.track("next")
print(client.flush(30))
`);
      expect(printed).toBe('True');
      expect(eventTypes(server).sort()).toEqual(['loss', 'lost', 'next']);
    }));

  test('Python: sys.exit() in on_error does not end the thread that sends', () =>
    withServer(async (server) => {
      server.answers.push({ status: 400 });
      const printed = await runPythonScript(`
import sys
from event_analytics import Client
client = Client("k", "${server.url}", on_error=lambda error, lost: sys.exit(1))
client.track("lost")
client.flush(10)
client.track("next")
print(client.flush(10))
`);
      expect(printed).toBe('True');
      expect(eventTypes(server)).toEqual(['lost', 'next']);
    }));

  test('Python: a forked process sends its own events and leaves those of the parent to the parent', () =>
    withServer(async (server) => {
      await runPythonScript(`
import os, sys
from event_analytics import Client
client = Client("k", "${server.url}")
client.track("parent")
child = os.fork()
if child == 0:
    client.track("child")
    sys.exit()
os.waitpid(child, 0)
`);
      expect(eventTypes(server).sort()).toEqual(['child', 'parent']);
    }));

  test('Python: a process that is forked while another thread chooses can choose', () =>
    withServer(async (server) => {
      const printed = await runPythonScript(`
import os, signal, sys
from event_analytics import Client
client = Client("k", "${server.url}")
client._exposures_lock.acquire()
child = os.fork()
if child == 0:
    signal.alarm(10)
    print(client.choice("color", ["only"], user_id="ada"))
    sys.exit()
print(os.waitpid(child, 0)[1])
`);
      expect(printed.split('\n')).toEqual(['only', '0']);
    }));

  test('Python: ids are sent as text in every call', () =>
    withServer(async (server) => {
      await runPythonScript(`
from event_analytics import Client
with Client("k", "${server.url}") as client:
    for id in (1234567890123456789, 42.0, True):
        client.track("a", user_id=id, device_id=id, session_id=id, insert_id=id)
    client.choice("color", ["only"], user_id=1234567890123456789, session_id=7)
    client.identify(1234567890123456789, device_id=7)
    try:
        client.identify(True)
    except ValueError:
        pass
`);
      const [track, identify] = server.requests;
      const big = '1234567890123456789';
      expect(track?.body.events.map(idsOf)).toEqual([
        [big, big, big, big],
        ['42', '42', '42', '42'],
        [true, true, true, true],
        [big, undefined, '7', expect.stringMatching(/^[0-9a-f]{32}$/)],
      ]);
      expect(identify?.body).toEqual({ user_id: big, device_id: '7' });
      expect(server.requests).toHaveLength(2);
    }));
});
