// Webhook receiver of the fault runs: keeps what it accepted, refuses some messages, and has the
// workers killed after it accepted one, before they can record that it was sent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from './random.js';

/** A message that was answered with 200, or whose sender was killed before the answer. */
export interface AcceptedHook {
  readonly id: string;
  readonly text: string;
}

export interface HookReceiver {
  readonly url: string;
  /** In the order of arrival, repetitions included. */
  readonly accepted: readonly AcceptedHook[];
  readonly counts: { refused: number; killed: number };
  /** Set when the faults are over: accepts everything, and kills nothing. */
  isCalm: boolean;
  close(): void;
}

const REFUSED_SHARE = 0.1;
/** The workers are killed at the second message, and at each eighth after it. */
const KILL_EVERY = 8;
const FIRST_KILL = 2;

export async function startHookReceiver(random: Random, killWorkers: () => void): Promise<HookReceiver> {
  const accepted: AcceptedHook[] = [];
  const counts = { refused: 0, killed: 0 };
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (!receiver.isCalm && random.next() < REFUSED_SHARE) {
        counts.refused += 1;
        response.writeHead(503).end();
        return;
      }
      accepted.push({ id: String(request.headers['x-delivery-id']), text: Buffer.concat(chunks).toString() });
      if (!receiver.isCalm && accepted.length % KILL_EVERY === FIRST_KILL) {
        counts.killed += 1;
        killWorkers();
      }
      response.writeHead(200).end();
    } catch {
      // The sender was killed while it sent.
      response.destroy();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: HookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ accepted, counts, isCalm: false },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
