// Metric of the event loop delay.
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectProcessMetrics } from '../../../src/platform/process-metrics.js';
import { eventually } from '../../support/eventually.js';

async function scrape(registry: Registry, name: string): Promise<number> {
  return Number((await registry.metrics()).match(new RegExp(`^${name} (.+)$`, 'm'))?.[1]);
}

function holdLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('the longest time that something held the event loop is shown once, without the interval of the timer', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  await sleep(50);
  holdLoop(300);
  await sleep(50);
  const held = await scrape(registry, 'event_loop_delay_max_seconds');
  expect(held).toBeGreaterThan(0.28);
  await eventually(async () => {
    expect(await scrape(registry, 'event_loop_delay_max_seconds')).toBeLessThan(held / 2);
  });
});

test('there is one measure of it', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  expect(await registry.metrics()).not.toContain('eventloop_lag');
});
