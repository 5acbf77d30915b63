// Small reads on the path of every question, whose answer is a few rows. The ClickHouse client
// waits for a timer before each request and sends the statement in pieces, as a stream; this sends
// one piece at once, which takes half the time.
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type ClickHouseClient, type ClickHouseTarget, targetOf } from './client.js';

type Params = Readonly<Record<string, string | number>>;

/** Rows of a statement. Rejects with the engine's message, or when it takes too long. */
export type ReadRows = (query: string, params?: Params) => Promise<readonly (readonly unknown[])[]>;

const ANSWER_TIMEOUT_MS = 2_000;
const CONNECTIONS_MAX = 4;
const SETTINGS = { readonly: '2', max_threads: 1 } as const;

const readsByClient = new WeakMap<ClickHouseClient, ReadRows>();

/** From the server of the client. */
export function smallReadsOf(clickhouse: ClickHouseClient): ReadRows {
  const known = readsByClient.get(clickhouse);
  if (known !== undefined) return known;
  const address = toAddress(targetOf(clickhouse));
  const read = address === undefined ? readByClient(clickhouse) : readFrom(address);
  readsByClient.set(clickhouse, read);
  return read;
}

function readFrom({ url, headers }: Address): ReadRows {
  const isSecure = url.protocol === 'https:';
  // Its idle connections do not keep the process running.
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const send = isSecure ? httpsRequest : httpRequest;
  return async (query, params = {}) => {
    const asked = new URL(url);
    for (const [name, value] of Object.entries(params)) asked.searchParams.set(`param_${name}`, String(value));
    const body = Buffer.from(query);
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const options = { method: 'POST', agent, headers: { ...headers, 'content-length': body.length }, signal };
    const { data } = JSON.parse(await exchange(() => send(asked, options), body)) as { data: unknown[][] };
    return data;
  };
}

interface Address {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined when the URL has options, which only the client understands. */
function toAddress(target: ClickHouseTarget | undefined): Address | undefined {
  if (target === undefined) return undefined;
  const url = new URL(target.CLICKHOUSE_URL);
  if (url.search !== '') return undefined;
  const [user, password] = [url.username, url.password].map((part) => decodeURIComponent(part));
  const credentials = Buffer.from(`${user || 'default'}:${password}`).toString('base64');
  const plain = new URL('/', url);
  [plain.username, plain.password] = ['', ''];
  const database = target.CLICKHOUSE_DATABASE;
  const options = { database, default_format: 'JSONCompact', ...target.settings, ...SETTINGS };
  for (const [name, value] of Object.entries(options)) plain.searchParams.set(name, String(value));
  return { url: plain, headers: { authorization: `Basic ${credentials}`, 'content-type': 'text/plain' } };
}

/** Once more when the server has closed the idle connection meanwhile. */
async function exchange(post: () => ClientRequest, body: Buffer): Promise<string> {
  for (;;) {
    const request = post();
    try {
      return await answerTo(request, body);
    } catch (cause) {
      if (!request.reusedSocket || !isReset(cause)) throw cause;
    }
  }
}

const isReset = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE');

const answerTo = (request: ClientRequest, body: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200 && response.headers['x-clickhouse-exception-code'] === undefined) resolve(text);
        else reject(new Error(`ClickHouse answered ${response.statusCode}: ${text.slice(0, 500)}`));
      });
    });
    request.end(body);
  });

const readByClient =
  (clickhouse: ClickHouseClient): ReadRows =>
  async (query, params = {}) => {
    const result = await clickhouse.query({
      query,
      query_params: params,
      format: 'JSONCompact',
      abort_signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      clickhouse_settings: SETTINGS,
    });
    return (await result.json<unknown[]>()).data;
  };
