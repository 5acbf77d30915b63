// The tool schema: values that it shows are ones that a query can name.
import { expect, test } from 'vitest';
import { type SchemaInput, schemaInput, showSchema } from '../../../src/query-api/mcp/schema-tool.js';

const show = (input: Partial<SchemaInput>): Promise<string> => {
  const catalog = {
    events: new Map([['signup', 3]]),
    properties: new Map([['event_properties.title', ['string']]]),
    values: new Map([['event_properties.title', ['short', `${'long '.repeat(10)}end`]]]),
  };
  const definitions = [
    { kind: 'cohort', name: 'fans', query: '* | where count(odd) > 1', line: 2 },
    { kind: 'metric', name: 'rate', query: 'formula unique(odd) / unique(signup)', line: 3 },
  ];
  const deps = { catalogs: { read: async () => catalog }, definitions: { read: async () => ({ definitions }) } };
  const call = { credential: { projectId: 'p' } };
  const [asDeps, asCall] = [deps, call] as unknown as [
    Parameters<typeof showSchema>[0],
    Parameters<typeof showSchema>[1],
  ];
  return showSchema(asDeps, asCall, schemaInput.parse(input));
};

test('a value that is cut is shown as the beginning of a text, not as a text of its own', async () => {
  const text = await show({ search: 'title' });
  expect(text).toContain('"short"');
  expect(text).toContain(`"${'long '.repeat(8)}"…`);
});

test('a cohort or metric asked for as a field is shown with its definition', async () => {
  for (const field of ['cohort.fans', 'fans']) {
    expect(await show({ field })).toContain('| cohort.fans | * \\| where count(odd) > 1 |');
  }
  expect(await show({ field: 'metric rate' })).toContain('| metric rate | formula unique(odd) / unique(signup) |');
  await expect(show({ field: 'fan' })).rejects.toThrow('no field "fan" in this project');
});

test('search goes without event and field, which it would ignore', async () => {
  for (const named of [{ event: 'signup' }, { field: 'title' }]) {
    await expect(show({ search: 'title', ...named })).rejects.toThrow('leave out event and field');
  }
});
