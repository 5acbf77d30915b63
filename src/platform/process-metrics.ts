// Metrics of the process itself: prom-client's defaults, and the delay of the event loop as two
// gauges over the time since the last scrape. prom-client's own lag gauges are left out: they
// include the interval of their timer, so that an idle process shows 10 ms.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

// The timer wakes an idle process as often: 0.22 % of a core at 10 ms, 0.09 % at 50 ms. A block may
// begin between two runs, so that it appears up to an interval shorter.
const RESOLUTION_MS = 50;
const PROM_CLIENT_LAG = 'nodejs_eventloop_lag_';
// Node always runs the timer of prom-client's lag gauges; this makes it a rare one.
const UNUSED_PRECISION_MS = 60_000;

export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: UNUSED_PRECISION_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith(PROM_CLIENT_LAG)) registry.removeSingleMetric(name);
  }
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const p99 = new Gauge({
    name: 'event_loop_delay_p99_seconds',
    help: 'How late the event loop ran a timer since the last scrape, 99th percentile',
    registers: [registry],
  });
  new Gauge({
    name: 'event_loop_delay_max_seconds',
    help: 'How late the event loop ran a timer since the last scrape, at most: the longest time something held it',
    registers: [registry],
    collect() {
      this.set(toDelaySeconds(delay.max));
      p99.set(toDelaySeconds(delay.percentile(99)));
      delay.reset();
    },
  });
}

/** The delay: how far the time between two runs of the timer exceeds its interval. */
const toDelaySeconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
