// Import pipeline: lines → events → batches → requests, with bounded concurrency. It owns the
// counters; file reading, HTTP and progress output are injected.

import { ConcurrencyLimit } from '../platform/flow/concurrency-limit.js';
import { digestLine, type PageViewEvent, type PageViewOptions, toPageView } from './access-log-event.js';
import { tryParseAccessLogLine } from './access-log-line.js';
import { BATCH_LIMITS, type Batch, BatchBuilder, type BatchLimits } from './batches.js';
import type { Line } from './line-reader.js';
import { RepetitionCounter } from './repetition-counter.js';
import type { SendBatch } from './track-client.js';

export interface ImportSummary {
  /** Lines read, without blank ones. Equals sent + unparsable when the import is complete. */
  readonly lines: number;
  /** Events that the service has answered: accepted + skipped. */
  readonly sent: number;
  readonly accepted: number;
  /** Events that the service skipped as invalid. */
  readonly skipped: number;
  readonly unparsable: number;
}

export interface ImportOptions extends PageViewOptions {
  readonly send: SendBatch;
  readonly batchLimits?: BatchLimits;
  readonly requestsMax?: number;
  readonly onUnparsable?: (line: Line) => void;
  readonly onProgress?: (summary: ImportSummary) => void;
}

/**
 * The service replaces times before 2000 by the time of receipt, which would differ in every run.
 */
const TIME_MIN_MS = Date.UTC(2000, 0, 1);
const REQUESTS_MAX = 3;

/**
 * Rejects with the first failure of `send`; `onProgress` has then received the summary up to it.
 */
export async function importAccessLog(lines: AsyncIterable<Line>, options: ImportOptions): Promise<ImportSummary> {
  const counts = { lines: 0, sent: 0, accepted: 0, skipped: 0, unparsable: 0 };
  const builder = new BatchBuilder(options.batchLimits ?? BATCH_LIMITS);
  const repetitions = new RepetitionCounter();
  const requests = new ConcurrencyLimit(options.requestsMax ?? REQUESTS_MAX);

  const submit = (batch: Batch): Promise<void> =>
    requests.push(async () => {
      const { accepted } = await options.send(batch.body);
      counts.sent += batch.events;
      counts.accepted += accepted;
      counts.skipped += batch.events - accepted;
      options.onProgress?.({ ...counts });
    });

  for await (const line of lines) {
    if (line.text.trim() === '') continue;
    counts.lines += 1;
    const event = tryToEvent(line, repetitions, options);
    if (event === undefined) {
      counts.unparsable += 1;
      options.onUnparsable?.(line);
      continue;
    }
    const full = builder.add(event);
    if (full !== undefined) await submit(full);
  }
  const last = builder.take();
  if (last !== undefined) await submit(last);
  await requests.drain();
  return counts;
}

function tryToEvent(line: Line, repetitions: RepetitionCounter, options: PageViewOptions): PageViewEvent | undefined {
  const parsed = line.isCut ? undefined : tryParseAccessLogLine(line.text);
  if (parsed === undefined || parsed.timeMs < TIME_MIN_MS) return undefined;
  // The server may still be writing this line. Importing the complete line later would create
  // another event.
  if (!line.isTerminated && !parsed.isComplete) return undefined;
  const digest = digestLine(line.text);
  return toPageView(parsed, { digest, repetition: repetitions.next(digest) }, options);
}
