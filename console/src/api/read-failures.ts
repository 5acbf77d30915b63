// Bodies of responses that break off or are cut: after the status, reading them can still fail.

/** The response, whose `json`, `text` and `blob` call `fail` with what made them fail. */
export function withReadFailures(response: Response, fail: (cause: unknown) => never): Response {
  const { json, text, blob } = response;
  return Object.assign(response, {
    json: () => json.call(response).catch(fail),
    text: () => text.call(response).catch(fail),
    blob: () => blob.call(response).catch(fail),
  });
}
