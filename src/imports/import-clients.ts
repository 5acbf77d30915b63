// Clients of the service that an import sends with, the same for the command and the console.
import { createCounter } from './count-stored.js';
import { importerName, libraryOf } from './library.js';
import { paced } from './pace.js';
import type { ImportClients } from './run-import.js';
import {
  createIdentifyBatchClient,
  createTrackClient,
  createWaitingTrackClient,
  type TrackClientOptions,
} from './track-client.js';

export interface ImportClientOptions extends Omit<TrackClientOptions, 'userAgent'> {
  readonly source: string;
  /** With it, events replace those that an earlier import has stored without a hostname. */
  readonly site: string | undefined;
  readonly identifiesPerSecond: number;
}

export function createImportClients({ source, site, identifiesPerSecond, ...target }: ImportClientOptions) {
  const options = { ...target, userAgent: importerName() };
  const { url, key, signal } = target;
  const cancel = signal === undefined ? {} : { signal };
  return {
    track: createTrackClient({ ...options, replacesHostless: site !== undefined }),
    trackAndWait: createWaitingTrackClient(options),
    count: createCounter({ url, key, library: libraryOf(source), ...cancel }),
    identifyBatch: paced(createIdentifyBatchClient(options), { perSecond: identifiesPerSecond, ...cancel }),
  } satisfies ImportClients;
}
