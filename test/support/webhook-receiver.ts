// HTTP server for tests that receives webhooks, and can be told to fail or to delay its answers.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface ReceivedHook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a body is looked into field by field
  readonly body: any;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly hooks: readonly ReceivedHook[];
  /** Of the answers to hooks that are received from now on. */
  status: number;
  delayMs: number;
  at(path: string): readonly ReceivedHook[];
  close(): void;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const hooks: ReceivedHook[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    // Before a test sees the hook, and sets those of the next.
    const { status, delayMs } = receiver;
    hooks.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) });
    await delay(delayMs);
    response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ hooks, status: 200, delayMs: 0 },
    at: (path) => hooks.filter((hook) => hook.path === path),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
