// Reads the default number of threads of a ClickHouse query (its cores, unless its profile
// differs), which the queries of one project share.
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import type { Logger } from '../platform/log.js';

const REMEMBERED_FOR_MS = 10 * 60_000;
const RETRY_AFTER_MS = 10_000;
const ASK_TIMEOUT_MS = 2_000;

/** Resolves with undefined while ClickHouse is unavailable, which then uses its own default. */
export function createEngineThreads(deps: {
  clickhouse: ClickHouseClient;
  log: Logger;
}): () => Promise<number | undefined> {
  let threads: number | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    askedAt = performance.now();
    try {
      const result = await deps.clickhouse.query({
        query: "SELECT toUInt32(getSetting('max_threads')) AS threads",
        format: 'JSONEachRow',
        abort_signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      const [row] = await result.json<{ threads: number }>();
      threads = Number(row?.threads) || undefined;
    } catch (err) {
      askedAt -= REMEMBERED_FOR_MS - RETRY_AFTER_MS;
      deps.log.warn({ err }, 'the engine did not say how many threads it has');
    } finally {
      asking = undefined;
    }
  }

  return async () => {
    if (performance.now() - askedAt > REMEMBERED_FOR_MS) asking ??= ask();
    // Only the first queries wait for it.
    if (threads === undefined) await asking;
    return threads;
  };
}
