// The import as a pipeline: lines → events → batches → requests, a few of them under way at once. It owns the counts;
// reading files, talking HTTP and showing progress are handed in.
import { digestLine, type PageViewEvent, type PageViewOptions, toPageView } from './access-log-event.js';
import { tryParseAccessLogLine } from './access-log-line.js';
import { BATCH_LIMITS, type Batch, BatchBuilder, type BatchLimits } from './batches.js';
import { InFlight } from './in-flight.js';
import type { Line } from './line-reader.js';
import { RepetitionCounter } from './repetition-counter.js';
import type { SendBatch } from './track-client.js';

export interface ImportSummary {
  /** Lines read, blank ones left out; sent + unparsable once the import is complete. */
  readonly lines: number;
  /** Events that the service has answered for; accepted + skipped. */
  readonly sent: number;
  readonly accepted: number;
  /** Events that the service passed over as invalid. */
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

/** The service keeps times from 2000 on; an older one would become the time of the import, and differ in every run. */
const TIME_MIN_MS = Date.UTC(2000, 0, 1);
const REQUESTS_MAX = 3;

/** Rejects with the first failure of `send`; the summary up to there has been given to `onProgress`. */
export async function importAccessLog(lines: AsyncIterable<Line>, options: ImportOptions): Promise<ImportSummary> {
  const counts = { lines: 0, sent: 0, accepted: 0, skipped: 0, unparsable: 0 };
  const builder = new BatchBuilder(options.batchLimits ?? BATCH_LIMITS);
  const repetitions = new RepetitionCounter();
  const requests = new InFlight(options.requestsMax ?? REQUESTS_MAX);

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
  // The rest of this line may still be on its way into the file. The import of the whole line would be another event.
  if (!line.isTerminated && !parsed.isComplete) return undefined;
  const digest = digestLine(line.text);
  return toPageView(parsed, { digest, repetition: repetitions.next(digest) }, options);
}
