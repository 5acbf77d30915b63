// Export of a person with a million events: time to the first line, throughput, and memory.

import { atMost, type Measurement } from './measurement.js';
import { readMemory } from './process-usage.js';
import { toEventInserts } from './query-data.js';
import type { BenchContext, Stack } from './stack.js';
import { median } from './statistics.js';

const PERSON = 'the busiest of all';
const FIRST_LINES = 5;
const SAMPLE_EVERY_MS = 250;
const MEGABYTE = 1_000_000;
const WATCHED = ['web', 'worker', 'redis', 'clickhouse'];

export async function benchExport({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const events = isQuick ? 100_000 : 1_000_000;
  say(`export: filling ${events} events of the person, and as many of others`);
  const untilMs = Date.now();
  const data = { projectId: stack.projectId, events, days: 60 };
  const inserts = [
    ...toEventInserts({ ...data, untilMs: untilMs - 1, person: PERSON }),
    ...toEventInserts({ ...data, untilMs }),
  ];
  for (const insert of inserts) await stack.clickhouse.command(insert);

  say('export: first lines');
  const firstMs: number[] = [];
  for (let turn = 0; turn < FIRST_LINES; turn += 1) firstMs.push(await timeFirstLine(stack));
  say('export: all of it');
  const memory = watchMemory(stack);
  const startedMs = performance.now();
  const { bytes, lines } = await readAll(stack);
  const seconds = (performance.now() - startedMs) / 1000;
  if (lines !== events) throw new Error(`${lines} lines were exported of ${events}`);
  return [
    { name: 'to the first line, median', value: median(firstMs), unit: 'ms', aim: atMost(1000) },
    { name: 'events per second', value: lines / seconds, unit: '' },
    { name: 'rate', value: bytes / seconds / MEGABYTE, unit: 'MB/s' },
    ...[...memory.stop()].map(([name, grown]) => ({
      name: `memory (PSS) of ${name}, most it grew`,
      value: grown / MEGABYTE,
      unit: 'MB',
    })),
  ];
}

async function open(stack: Stack, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(`${stack.url}/api/gdpr/users/${encodeURIComponent(PERSON)}/export`, {
    headers: { 'x-api-key': stack.secretKey },
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok || response.body === null) throw new Error(`export: status ${response.status}`);
  return response.body;
}

async function timeFirstLine(stack: Stack): Promise<number> {
  const leaving = new AbortController();
  const startedMs = performance.now();
  const reader = (await open(stack, leaving.signal)).getReader();
  await reader.read();
  const elapsedMs = performance.now() - startedMs;
  leaving.abort();
  return elapsedMs;
}

async function readAll(stack: Stack): Promise<{ bytes: number; lines: number }> {
  let bytes = 0;
  let lines = 0;
  for await (const chunk of await open(stack)) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return { bytes, lines };
}

/** Maximum memory growth of each process between now and `stop`. */
function watchMemory(stack: Stack): { stop(): Map<string, number> } {
  const processes = stack.processes().filter(({ name }) => WATCHED.includes(name));
  const before = readMemory(processes);
  const grown = new Map<string, number>();
  const sample = (): void => {
    for (const [name, { pssBytes }] of readMemory(processes)) {
      grown.set(name, Math.max(grown.get(name) ?? 0, pssBytes - (before.get(name)?.pssBytes ?? 0)));
    }
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      return grown;
    },
  };
}
