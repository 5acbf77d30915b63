// HTTP server with scripted responses, in place of the service; it also serves pages that load the
// browser script.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into what they sent themselves.
  readonly body: any;
  /** Milliseconds. */
  readonly at: number;
}

export interface ScriptedAnswer {
  /** 0 never answers. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ScriptedServer {
  readonly url: string;
  /** What was posted so far. */
  readonly requests: RecordedRequest[];
  /** The next responses, in order; later requests are accepted. */
  readonly answers: ScriptedAnswer[];
  /** Pages of the site by prefix of their path. */
  readonly pages: Map<string, string>;
  close(): Promise<void>;
}

const TAKEN: ScriptedAnswer = { status: 200, body: '{"accepted":1,"ok":true}' };

export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const answers: ScriptedAnswer[] = [];
  const pages = new Map<string, string>();
  const server = createServer((req, res) => {
    if (req.method === 'GET') showPage(req, res, pages);
    else void record(req).then((request) => answer(request, res));
  });
  const answer = (request: RecordedRequest, res: ServerResponse): void => {
    requests.push(request);
    const { status, headers, body = '{}' } = answers.shift() ?? TAKEN;
    if (status === 0) return;
    res.writeHead(status, {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'Retry-After',
      ...headers,
    });
    res.end(body);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answers,
    pages,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function record(req: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://scripted');
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { path: pathname, query: searchParams, headers: req.headers, text, body, at: Date.now() };
}

function showPage(req: IncomingMessage, res: ServerResponse, pages: ReadonlyMap<string, string>): void {
  const name = [...pages.keys()].find((prefix) => req.url?.startsWith(prefix));
  const page = name === undefined ? undefined : pages.get(name);
  res.writeHead(page === undefined ? 404 : 200, { 'Content-Type': 'text/html; charset=utf-8' });
  res.end(page);
}
