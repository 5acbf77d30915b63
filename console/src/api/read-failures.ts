// Bodies of responses that break off or are cut: after the status, reading them can still fail.

/** The response, whose `json` and `text` call `fail` with what made them fail. */
export function withReadFailures(response: Response, fail: (cause: unknown) => never): Response {
  const [json, text] = [response.json.bind(response), response.text.bind(response)];
  return Object.assign(response, { json: () => json().catch(fail), text: () => text().catch(fail) });
}
