// Agents of tests: the official clients of both generations of the protocol, and tokens for them.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { digestKey, newKey, shownPrefix } from '../../src/access/keys.js';
import type { Scope } from '../../src/access/roles.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import type { Postgres } from '../../src/platform/postgres/client.js';

export const GENERATIONS = ['2026', '2025, by the current client', '2025, by the earlier client'] as const;
export type Generation = (typeof GENERATIONS)[number];

export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
}

export interface Agent {
  listTools(): Promise<readonly { readonly name: string }[]>;
  call(name: string, input?: Readonly<Record<string, unknown>>): Promise<ToolText>;
  listResources(): Promise<string[]>;
  read(uri: string): Promise<string>;
  listPrompts(): Promise<string[]>;
  prompt(name: string, input?: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

const INFO = { name: 'test', version: '1' };

/** Connects to POST /mcp with the headers, by default in the current generation. */
export async function connectAgent(
  url: string,
  headers: Readonly<Record<string, string>>,
  generation: Generation = '2026',
): Promise<Agent> {
  const address = new URL('/mcp', url);
  const client =
    generation === '2025, by the earlier client'
      ? await connectEarlier(address, headers)
      : await connectCurrent(address, headers, generation === '2026');
  return {
    listTools: async () => (await client.listTools()).tools,
    call: async (name, input = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      return { text: (content as { text: string }[]).map(({ text }) => text).join('\n'), isError: isError === true };
    },
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => {
      const { contents } = await client.readResource({ uri });
      return (contents as { text: string }[]).map(({ text }) => text).join('\n');
    },
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, input = {}) => {
      const { messages } = await client.getPrompt({ name, arguments: { ...input } });
      return messages.map(({ content }) => (content as { text: string }).text).join('\n');
    },
    close: () => client.close(),
  };
}

async function connectCurrent(address: URL, headers: Readonly<Record<string, string>>, isModern: boolean) {
  const mode = isModern ? { pin: '2026-07-28' as const } : ('legacy' as const);
  const client = new Client(INFO, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
}

async function connectEarlier(address: URL, headers: Readonly<Record<string, string>>) {
  const client = new EarlierClient(INFO);
  // The types of the earlier generation do not know exactOptionalPropertyTypes.
  const transport = new EarlierTransport(address, { requestInit: { headers } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client as unknown as Client;
}

/** A service token of the project, or with `fields` another. */
export async function createToken(
  postgres: Postgres,
  projectId: string,
  scopes: readonly Scope[],
  fields: object = {},
): Promise<string> {
  const text = newKey('token');
  await postgres('access_tokens').insert({
    id: newUuidV7(),
    project_id: projectId,
    name: 'Agent',
    kind: 'service',
    scopes,
    digest: digestKey(text),
    prefix: shownPrefix(text),
    expires_at: new Date(Date.now() + 3_600_000),
    ...fields,
  });
  return text;
}
