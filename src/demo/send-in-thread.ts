// Makes and sends the demo shop in a thread of its own: both take seconds of CPU time, during which
// a worker must not hold its other jobs.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { messageOf } from '../platform/errors.js';
import { generateShop, type ShopOptions } from './generate.js';
import { type DemoProgress, type DemoService, type SentShop, sendShop } from './send-shop.js';

type Service = Omit<DemoService, 'signal'>;

interface Assignment {
  readonly task: typeof TASK;
  readonly shop: ShopOptions;
  readonly service: Service;
}

const TASK = 'send-demo-shop';
const MEMORY_MEBIBYTES = 512;
const PROGRESS_EVERY_MS = 250;

type Message =
  | { readonly kind: 'progress'; readonly progress: DemoProgress }
  | { readonly kind: 'sent'; readonly sent: SentShop }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * The service refused the shop, or did not store it. The message is for the person who asked for
 * it.
 */
export class ShopNotSent extends Error {
  override readonly name = 'ShopNotSent';
}

/** Rejects when the service refuses the shop, or when the signal is aborted. */
export function sendInThread(
  shop: ShopOptions,
  { signal, ...service }: DemoService,
  onProgress: (progress: DemoProgress) => void = () => {},
): Promise<SentShop> {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { task: TASK, shop, service } satisfies Assignment,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MEBIBYTES },
  });
  return new Promise<SentShop>((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    thread.on('message', (message: Message) => {
      if (message.kind === 'progress') onProgress(message.progress);
      else if (message.kind === 'sent') resolve(message.sent);
      else reject(new ShopNotSent(message.reason.replaceAll(service.url, 'the service')));
    });
    thread.on('error', reject);
    thread.on('exit', () => reject(new Error('the thread ended before the shop was sent')));
  }).finally(() => thread.terminate());
}

async function sendHere({ shop, service }: Assignment): Promise<void> {
  const post = (message: Message): void => parentPort?.postMessage(message);
  let shownAtMs = 0;
  try {
    const sent = await sendShop(generateShop(shop), service, (progress) => {
      if (performance.now() - shownAtMs < PROGRESS_EVERY_MS) return;
      shownAtMs = performance.now();
      post({ kind: 'progress', progress });
    });
    post({ kind: 'sent', sent });
  } catch (cause) {
    post({ kind: 'failed', reason: messageOf(cause) });
  }
}

if (!isMainThread && (workerData as Assignment | null)?.task === TASK) await sendHere(workerData as Assignment);
