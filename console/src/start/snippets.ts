// Code that sends a first event, with the project's real key.
import type { ProjectDetails } from '../api/project-details.js';

export const WAYS = ['page', 'shell', 'node', 'python', 'query'] as const;
export type Way = (typeof WAYS)[number];

export function snippetOf(
  way: Way,
  publicUrl: string,
  { public_key: key, secret_key: secret }: ProjectDetails,
): string {
  const at = (path: string): string => new URL(path, publicUrl).href;
  const host = new URL(publicUrl).origin;
  switch (way) {
    case 'page':
      return `<script src="${at('/public/service.js')}" data-key="${key}" async></script>`;
    case 'shell':
      return `curl ${at('/track')} \\
  -H "X-API-Key: ${key}" \\
  -d '{"event_type": "signup", "user_id": "ada"}'`;
    case 'node':
      return `import { Client } from 'event-analytics-node';

const client = new Client({ key: '${key}', host: '${host}' });
client.track({ event_type: 'signup', user_id: 'ada' });
await client.close();`;
    case 'python':
      return `from event_analytics import Client

with Client("${key}", "${host}") as client:
    client.track("signup", user_id="ada")`;
    case 'query':
      return `curl ${at('/query')} \\
  -H "X-API-Key: ${secret ?? '$SECRET_KEY'}" \\
  -d '{"q": "signup | last 7d | count by day"}'`;
  }
}
