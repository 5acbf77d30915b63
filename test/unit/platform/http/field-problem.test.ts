// Wrong fields of requests: each route says what is wrong in plain words.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as accounts from '../../../../src/accounts/schema.js';
import { dryRunBody } from '../../../../src/alerts/schema.js';
import { newCardSchema } from '../../../../src/dashboards/add-card.js';
import { draftBodySchema } from '../../../../src/dashboards/draft.js';
import * as dashboards from '../../../../src/dashboards/schema.js';
import * as definitions from '../../../../src/definitions/schema.js';
import { uploadQuery } from '../../../../src/imports/upload/routes.js';
import { liveQuery } from '../../../../src/live/routes.js';
import { deadLetterBody } from '../../../../src/operate/routes.js';
import { parseFields } from '../../../../src/platform/http/json-body.js';
import { personBody } from '../../../../src/privacy/schema.js';
import { queryBodySchema } from '../../../../src/query-api/schema.js';
import { reportDryRunBody } from '../../../../src/reports/schema.js';
import { usageQuery } from '../../../../src/usage/range.js';

const messageOf = (schema: z.ZodType, fields: object): string => {
  try {
    parseFields(schema, fields);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

test.each([
  ['f is required', z.string(), undefined],
  ['f must be text', z.string(), 5],
  ['f must have at most 2 characters', z.string().max(2), 'abc'],
  ['f must not be empty', z.string().min(1), ''],
  ['f must have at least 2 characters', z.string().min(2), 'a'],
  ['f must be a number', z.number(), 'a'],
  ['f must be a whole number', z.int(), 1.5],
  ['f must be at least 1', z.int().min(1), 0],
  ['f must be at most 9', z.int().max(9), 10],
  ['f must be true or false', z.boolean(), 'yes'],
  ['f must be a list', z.array(z.string()), {}],
  ['f must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
  ['f 1 must be text', z.array(z.string()), ['a', 1]],
  ['f must be an object', z.strictObject({ a: z.int() }), []],
  ['f must be an object', z.record(z.string(), z.int()), 'a'],
  ['f is one of a, b', z.enum(['a', 'b']), 'c'],
  ['f must be a', z.literal('a'), 'c'],
  ['f must be an email address', z.email(), 'c'],
  ['f must be an id (UUID)', z.uuid(), 'c'],
  ['f must be a time such as 2026-01-31T12:00:00Z', z.iso.datetime(), 'c'],
  ['f must be written in another form', z.string().regex(/^a/), 'c'],
  ['f is not valid', z.union([z.string(), z.int()]), true],
  ['f is required: the name', z.string({ error: 'is required: the name' }), 5],
])('%s', (message, schema: z.ZodType, value: unknown) => {
  expect(messageOf(z.object({ f: schema }), { f: value })).toBe(message);
});

/** Schemas of bodies and of query strings. */
const SCHEMAS = Object.entries({
  ...{ ...accounts, ...dashboards, ...definitions, dryRunBody, newCardSchema, draftBodySchema, uploadQuery, liveQuery },
  ...{ deadLetterBody, personBody, queryBodySchema, reportDryRunBody, usageQuery },
}).flatMap(([name, schema]) =>
  (schema as unknown) instanceof z.ZodObject ? [[name, schema as z.ZodObject] as const] : [],
);

const WRONG = [undefined, null, '', 'a'.repeat(100_000), 'x y', -1, 1.5, 1e300, true, [], [1], {}, { a: 1 }];

describe.each(SCHEMAS)('%s', (_, schema) => {
  test.each(Object.keys(schema.shape))('%s has no words of the library', (field) => {
    const said = WRONG.map((value) => messageOf(schema, { [field]: value }));
    expect(said.filter((message) => /Invalid |expected |Too (?:big|small)|NaN|Unrecognized/.test(message))).toEqual([]);
    expect(said.some((message) => message !== '')).toBe(true);
  });
});
