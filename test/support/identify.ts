// Helpers of identify tests: send calls and queries like a client.

export interface IdentifyAnswer {
  readonly status: number;
  readonly body: { ok?: boolean; accepted?: number; error?: string };
  readonly headers: Headers;
}

export const identify = (url: string, key: string, body: unknown, headers: Record<string, string> = {}) =>
  post(`${url}/identify`, key, body, headers);

export const identifyBatch = (url: string, key: string, calls: readonly object[]) =>
  post(`${url}/identify/batch`, key, { calls });

async function post(
  url: string,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<IdentifyAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as IdentifyAnswer['body'],
    headers: response.headers,
  };
}

export type AnswerRow = Readonly<Record<string, unknown>>;

/** Throws with the message of an error response. */
export async function askRows(url: string, key: string, q: string): Promise<AnswerRow[]> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ q, format: 'json', limit: 1000 }),
  });
  const body = (await response.json()) as { rows?: AnswerRow[]; error?: string };
  if (body.rows === undefined) throw new Error(`${q}: ${body.error}`);
  return body.rows;
}
