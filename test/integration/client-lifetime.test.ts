// How the Node and the Python client end, and what they hold meanwhile, when the service does not answer.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { Client } from '../../clients/node/src/client.js';
import { packageRoot } from '../../src/platform/paths.js';
import { runPython } from '../support/client-drivers.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const SILENT = { status: 0 };
const eventTypes = ({ requests }: ScriptedServer) =>
  requests.flatMap(({ body }) => body.events).map(({ event_type }) => event_type);

/** A server for one test, as they all wait side by side. */
async function withServer(run: (server: ScriptedServer) => Promise<void>): Promise<void> {
  const server = await startScriptedServer();
  try {
    await run(server);
  } finally {
    await server.close();
  }
}

describe.concurrent('the Node client and the Python client', () => {
  test('Node closes within ten seconds, once, and says what it could not send', () =>
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
      expect(Date.now() - startedAt).toBeGreaterThan(9_000);
      expect(Date.now() - startedAt).toBeLessThan(15_000);
      client.track({ event_type: 'late' });
      expect(errors.map(([, lost]) => lost).reduce((sum, lost) => sum + lost)).toBe(14);
      expect(errors.at(-1)).toEqual(['the client is closed', 1]);
    }));

  test('Node holds as much as it may, what is under way included', () =>
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

  test('Node lets a process end by itself, once what it tracked last is sent', () =>
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

  const tracked = (count: number) => Array.from({ length: count }, () => ({ call: 'track', event_type: 'a' }));

  test('Python closes within ten seconds, once, and says what it could not send', () =>
    withServer(async (server) => {
      server.answers.push(SILENT, SILENT);
      const calls = [...tracked(12), { call: 'close' }, { call: 'close' }, { call: 'track', event_type: 'late' }];
      const { lost, seconds } = await runPython({ calls, key: 'k', host: server.url });
      expect(seconds).toBeGreaterThan(9);
      expect(seconds).toBeLessThan(15);
      expect(lost).toBe(13);
    }));

  test('Python holds as much as it may, what is under way included', () =>
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

  test('Python sends what is left when the process ends', () =>
    withServer(async (server) => {
      await runPython({ calls: tracked(3), key: 'k', host: server.url, flush: false, end: true });
      expect(eventTypes(server)).toEqual(['a', 'a', 'a']);
    }));
});
