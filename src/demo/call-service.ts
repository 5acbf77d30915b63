// A request with JSON to the service itself. Its address comes from the command line or from the
// settings of the operator, never from a user of the service.

export interface ServiceCall {
  readonly url: string;
  readonly secretKey: string;
  readonly signal?: AbortSignal | undefined;
}

export async function callService(
  { url, secretKey, signal }: ServiceCall,
  { method, path, body }: { readonly method: 'POST' | 'PUT'; readonly path: string; readonly body: object },
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(new URL(path, url.endsWith('/') ? url : `${url}/`), {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': secretKey },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
  return { status: response.status, text: await response.text() };
}
