// Metric of the event loop delay.
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectProcessMetrics } from '../../../src/platform/process-metrics.js';
import { eventually } from '../../support/eventually.js';

async function scrape(registry: Registry, name: string): Promise<number> {
  return Number((await registry.metrics()).match(new RegExp(`^${name} (.+)$`, 'm'))?.[1]);
}

function blockLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('event_loop_delay_max_seconds shows the longest block once, without the timer interval', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  await sleep(50);
  blockLoop(300);
  await sleep(50);
  const held = await scrape(registry, 'event_loop_delay_max_seconds');
  // Up to an interval less: the block begins between two runs of the timer.
  expect(held).toBeGreaterThan(0.24);
  await eventually(async () => {
    expect(await scrape(registry, 'event_loop_delay_max_seconds')).toBeLessThan(held / 2);
  });
});

test('no other metric measures the event loop delay', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  expect(await registry.metrics()).not.toContain('eventloop_lag');
});
