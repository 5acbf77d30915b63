// Entry point of a thread that imports the files of an upload: reading and mapping them would block
// the event loop of `web`. It sends to the service as the command does, and stops when it is told.
import { parentPort, workerData } from 'node:worker_threads';
import { createImportClients } from '../import-clients.js';
import { findInput } from '../input/input-files.js';
import { libraryOf } from '../library.js';
import { runImport } from '../run-import.js';
import { findSource } from '../sources/table.js';
import type { ImportSummary } from '../summary.js';
import type { UploadLine } from './lines.js';
import { toErrorLine, toSummaryLine } from './messages.js';

export interface UploadJob {
  readonly source: string;
  readonly folder: string;
  readonly paths: readonly string[];
  readonly isDryRun: boolean;
  readonly site: string | undefined;
  readonly timeZone: string | undefined;
  /** The service, and a secret key of the project. */
  readonly url: string;
  readonly key: string;
  readonly decompressedBytesMax: number;
}

const IDENTIFIES_PER_SECOND = 180;
const PROGRESS_EVERY_MS = 300;

const stop = new AbortController();
parentPort?.once('message', () => stop.abort());

const say = (line: UploadLine): void => parentPort?.postMessage(line);

async function run(job: UploadJob): Promise<UploadLine> {
  const source = findSource(job.source);
  if (source === undefined) return { error: `cannot import "${job.source}"` };
  const { paths, decompressedBytesMax } = job;
  const input = await findInput(paths, { stdin: process.stdin, signal: stop.signal, decompressedBytesMax });
  const startedMs = performance.now();
  let saidMs = startedMs;
  const showProgress = (summary: ImportSummary): void => {
    const nowMs = performance.now();
    if (nowMs - saidMs < PROGRESS_EVERY_MS) return;
    saidMs = nowMs;
    const { read, skippedCount: skipped, links, profiles } = summary;
    const bytes = { bytes_read: input.bytesRead(), bytes_total: input.bytesTotal ?? 0 };
    say({ progress: { read, skipped, identities: links + profiles, ...bytes, elapsed_ms: nowMs - startedMs } });
  };
  const prefix = `${job.folder}/`;
  const files = input.files.map((file) => ({ ...file, name: file.name.replace(prefix, '') }));
  const summary = await runImport(files, {
    clients: job.isDryRun ? undefined : createClients(job),
    open: source.open(job),
    library: libraryOf(job.source),
    nowMs: Date.now(),
    signal: stop.signal,
    onProgress: showProgress,
  });
  return toSummaryLine(summary);
}

const createClients = ({ url, key, source, site }: UploadJob) =>
  createImportClients({
    ...{ url, key, source, site, signal: stop.signal },
    identifiesPerSecond: IDENTIFIES_PER_SECOND,
  });

const job = workerData as UploadJob;
say(await run(job).catch((cause: unknown) => toErrorLine(cause, job)));
parentPort?.close();
