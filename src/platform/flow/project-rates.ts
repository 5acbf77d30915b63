// Rate limits of a project in events and bytes per second, across all keys and web processes. Both
// numbers are known only after a request has been read, so the requests being read may exceed the
// limit; the project is then rejected until the excess has been worked off.
import type { Redis } from '../redis/client.js';
import { BatchedMeter } from './batched-meter.js';
import { FlowRefusal } from './refusal.js';
import { createWindowLimiter } from './window-limiter.js';

export interface ProjectRateLimits {
  readonly eventsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Projects below this fraction of their limit cost Redis nothing. */
const UNREPORTED = 1 / 20;

export class ProjectRates {
  readonly #limits: ProjectRateLimits;
  readonly #events: BatchedMeter;
  readonly #bytes: BatchedMeter;

  constructor(redis: Redis, limits: ProjectRateLimits) {
    const meterOf = (unit: string, points: number) =>
      new BatchedMeter(createWindowLimiter(redis, { name: `project:${unit}`, points, seconds: 1 }), {
        unreported: points * UNREPORTED,
        carriesExcess: true,
      });
    this.#limits = limits;
    this.#events = meterOf('events', limits.eventsPerSecond);
    this.#bytes = meterOf('bytes', limits.bytesPerSecond);
  }

  /**
   * Throws rate_limited while the project exceeds a limit. Cheap: it runs before the body is read.
   */
  admit(projectId: string): void {
    const { eventsPerSecond, bytesPerSecond } = this.#limits;
    if (this.#events.isExceeded(projectId)) {
      throw new FlowRefusal('events_per_second', tooMany('events', eventsPerSecond));
    }
    if (this.#bytes.isExceeded(projectId)) throw new FlowRefusal('bytes_per_second', tooMany('bytes', bytesPerSecond));
  }

  /** Counts what was read, or throws as `admit` does. */
  take(projectId: string, taken: { bytes: number; events: number }): void {
    this.admit(projectId);
    this.#events.add(projectId, taken.events);
    this.#bytes.add(projectId, taken.bytes);
  }
}

const tooMany = (unit: string, limit: number): string =>
  `too many ${unit}; the limit is ${limit} ${unit} per second for a project`;
