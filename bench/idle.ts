// Idle cost of the whole system: memory of every process directly after load and at rest, and share
// of one core at rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { measureLoad } from './ingest.js';
import { atMost, type Measurement } from './measurement.js';
import { readCpuMs, readMemory } from './process-usage.js';
import type { BenchContext } from './stack.js';

const MEGABYTE = 1_000_000;
/** After load, `web` and `worker` may hold 140 to 240 MB for over 45 s, until V8 collects. */
const QUICK_REST_MS = 75_000;

export async function benchIdle({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const loadMs = isQuick ? 3000 : 60_000;
  const restMs = isQuick ? QUICK_REST_MS : 300_000;
  const periodMs = isQuick ? 10_000 : 300_000;
  say(`idle: load for ${loadMs / 1000} s`);
  await measureLoad(stack, loadMs);
  const loaded = [...readMemory(stack.processes())].map(([name, { pssBytes, anonymousBytes }]) => ({
    name,
    pssMb: pssBytes / MEGABYTE,
    anonymousMb: anonymousBytes / MEGABYTE,
  }));
  say(`idle: resting for ${restMs / 1000} s`);
  await sleep(restMs);
  say(`idle: watching for ${periodMs / 1000} s`);
  const processes = stack.processes();
  const cpuBefore = readCpuMs(processes);
  const startedMs = performance.now();
  await sleep(periodMs);
  const elapsedMs = performance.now() - startedMs;
  const cpuAfter = readCpuMs(processes);
  const uses = [...readMemory(processes)].map(([name, { rssBytes, pssBytes, anonymousBytes }]) => ({
    name,
    rssMb: rssBytes / MEGABYTE,
    pssMb: pssBytes / MEGABYTE,
    anonymousMb: anonymousBytes / MEGABYTE,
    percentOfCore: (((cpuAfter.get(name) ?? 0) - (cpuBefore.get(name) ?? 0)) / elapsedMs) * 100,
  }));
  const unseen = uses.filter(({ pssMb }) => pssMb === 0).map(({ name }) => name);
  if (unseen.length > 0) throw new Error(`the kernel does not tell the memory of ${unseen.join(', ')}`);
  const sum = (pick: (use: (typeof uses)[number]) => number) => uses.reduce((total, use) => total + pick(use), 0);
  return [
    {
      name: 'memory (PSS) after load, all processes',
      value: loaded.reduce((total, { pssMb }) => total + pssMb, 0),
      unit: 'MB',
    },
    {
      name: 'anonymous memory after load, all processes',
      value: loaded.reduce((total, { anonymousMb }) => total + anonymousMb, 0),
      unit: 'MB',
    },
    ...loaded.map(({ name, pssMb }) => ({ name: `memory (PSS) of ${name} after load`, value: pssMb, unit: 'MB' })),
    { name: 'memory (PSS), all processes', value: sum((use) => use.pssMb), unit: 'MB', aim: atMost(450) },
    { name: 'anonymous memory, all processes', value: sum((use) => use.anonymousMb), unit: 'MB' },
    { name: 'memory (RSS), all processes', value: sum((use) => use.rssMb), unit: 'MB' },
    { name: 'share of a core, all processes', value: sum((use) => use.percentOfCore), unit: '%', aim: atMost(1) },
    ...uses.flatMap((use) => [
      { name: `memory (PSS) of ${use.name}`, value: use.pssMb, unit: 'MB' },
      { name: `anonymous memory of ${use.name}`, value: use.anonymousMb, unit: 'MB' },
      { name: `share of a core of ${use.name}`, value: use.percentOfCore, unit: '%' },
    ]),
  ];
}
