// Helpers of identify tests: send calls and queries like a client.

export interface IdentifyAnswer {
  readonly status: number;
  readonly body: { ok?: boolean; error?: string };
  readonly headers: Headers;
}

export async function identify(
  url: string,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<IdentifyAnswer> {
  const response = await fetch(`${url}/identify`, {
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
