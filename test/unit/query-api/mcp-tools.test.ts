// What agents are told of the tools: the size of tools/list, which every conversation pays for, and
// examples that are queries.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import type { Scope } from '../../../src/access/roles.js';
import { compile } from '../../../src/query/compile.js';
import type { Call } from '../../../src/query-api/mcp/call.js';
import { createAgentServer, type ServerDeps } from '../../../src/query-api/mcp/server.js';
import { countTokens } from '../../support/count-tokens.js';
import { CONTEXT } from '../query/compiling.js';

async function connectFor(scopes: readonly Scope[], featuresOff: readonly string[] = []) {
  // Listing tools, and refusing arguments, uses nothing else of both.
  const call = { credential: { scopes: new Set(scopes) } } as unknown as Call;
  const { fetch } = createMcpHandler(() => createAgentServer({ featuresOff } as unknown as ServerDeps, call));
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://test/mcp'), {
    fetch: async (url, init) => fetch(new Request(url, init)),
  });
  await client.connect(transport);
  return client;
}

async function listFor(scopes: readonly Scope[], featuresOff: readonly string[] = []) {
  const client = await connectFor(scopes, featuresOff);
  const { tools } = await client.listTools();
  await client.close();
  return tools;
}

test('tools/list is below 1,500 tokens', async () => {
  const text = JSON.stringify({ tools: await listFor(['query', 'dashboards']) });
  expect(countTokens(text)).toBeLessThan(1_500);
  expect(text.length / 3.5).toBeLessThan(1_500);
});

test('the examples in the description of query are queries', async () => {
  const { description = '' } = (await listFor(['query'])).find(({ name }) => name === 'query') ?? {};
  const examples = /Examples:\n([\s\S]+?)\nWithout/.exec(description)?.[1]?.split('\n') ?? [];
  expect(examples.length).toBeGreaterThan(2);
  for (const example of examples) expect(() => compile(example, CONTEXT)).not.toThrow();
});

test('a disabled feature has no tools', async () => {
  const names = async (off: string) => (await listFor(['query', 'dashboards'], [off])).map(({ name }) => name);
  expect(await names('query')).toEqual(['dashboards', 'save_dashboard']);
  expect(await names('dashboards')).toEqual(['schema', 'query', 'check']);
});

test.each([
  ['schema', { name: 'signup' }, 'name'],
  ['query', { q: 'signup | count', days: 90 }, 'days'],
  ['check', { query: 'signup', q: 'signup' }, 'query'],
  ['dashboards', { key: 'a', dashboard: 'b' }, 'dashboard'],
  ['save_dashboard', { key: 'a', source_yaml: 'version: 1', dryRun: true }, 'dryRun'],
])('%s refuses an argument that it has not, instead of ignoring it', async (name, input, unknown) => {
  const client = await connectFor(['query', 'dashboards']);
  const { isError, content } = await client.callTool({ name, arguments: input });
  expect([isError, JSON.stringify(content)]).toEqual([
    true,
    expect.stringContaining(`unknown argument \\"${unknown}\\"; the tool has `),
  ]);
  await client.close();
});

test.each([
  ['query', {}, 'q is required'],
  ['query', { q: 5, limit: 2000, format: 'xml' }, 'q must be text, limit must be at most 1000'],
  ['dashboards', { offset: -1, run: 'yes' }, 'run must be true or false, offset must be at least 0'],
  ['save_dashboard', { key: 'a', source_yaml: 'b', visibility: 'all' }, 'visibility is one of personal, project'],
])('%s says in plain words what is wrong with %j', async (name, input, expected) => {
  const client = await connectFor(['query', 'dashboards']);
  const { isError, content } = await client.callTool({ name, arguments: input });
  expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining(`tool ${name}: ${expected}`)]);
  await client.close();
});
