// The OpenAPI document: complete, consistent, and equal to what the hand-written validation
// accepts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { describe, expect, test } from 'vitest';
import { createFeatureSwitches, requireFeatures } from '../../../src/access/features.js';
import { ROUTES } from '../../../src/access/route-matrix.js';
import { toOpenApiDocument } from '../../../src/api/openapi/document.js';
import { identifyBody } from '../../../src/api/openapi/identify-body.js';
import { parseIdentifyBody } from '../../../src/identity/schema.js';
import { batchSchema, eventSchema } from '../../../src/ingest/event-schema.js';
import { toEventLimits } from '../../../src/ingest/limits.js';
import { findSkipReason } from '../../../src/ingest/schema.js';
import { parseConfig } from '../../../src/platform/config.js';
import { PublicError } from '../../../src/platform/errors.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { createValidator } from '../../support/contract.js';

const document = JSON.parse(JSON.stringify(toOpenApiDocument()));

/** JSON Schema of the parts of OpenAPI 3.1 that the document uses. Other parts are refused. */
const STRUCTURE = {
  $defs: {
    ref: {
      type: 'object',
      properties: { $ref: { type: 'string', pattern: '^#/components/' } },
      required: ['$ref'],
      additionalProperties: false,
    },
    content: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[a-z]+/[a-z-]+$' },
      additionalProperties: {
        type: 'object',
        properties: { schema: { type: 'object' } },
        required: ['schema'],
        additionalProperties: false,
      },
    },
    response: {
      type: 'object',
      properties: {
        description: { type: 'string', minLength: 1 },
        headers: { type: 'object' },
        content: { $ref: '#/$defs/content' },
      },
      required: ['description'],
      additionalProperties: false,
    },
    parameter: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        in: { enum: ['path', 'query'] },
        required: { type: 'boolean' },
        schema: { type: 'object' },
      },
      required: ['name', 'in', 'required', 'schema'],
      additionalProperties: false,
    },
    operation: {
      type: 'object',
      properties: {
        operationId: { type: 'string', pattern: '^[a-z][A-Za-z]+$' },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 1 },
        summary: { type: 'string', minLength: 1 },
        description: { type: 'string', minLength: 1 },
        security: { type: 'array', items: { type: 'object', additionalProperties: { type: 'array', maxItems: 0 } } },
        parameters: { type: 'array', items: { $ref: '#/$defs/parameter' }, minItems: 1 },
        requestBody: {
          type: 'object',
          properties: { required: { const: true }, content: { $ref: '#/$defs/content' } },
          required: ['required', 'content'],
          additionalProperties: false,
        },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: '^([1-5][0-9][0-9]|default)$' },
          additionalProperties: { anyOf: [{ $ref: '#/$defs/ref' }, { $ref: '#/$defs/response' }] },
        },
      },
      required: ['operationId', 'tags', 'summary', 'security', 'responses'],
      additionalProperties: false,
    },
  },
  type: 'object',
  properties: {
    openapi: { const: '3.1.0' },
    info: { type: 'object' },
    servers: { type: 'array' },
    tags: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, description: { type: 'string', minLength: 1 } },
        required: ['name', 'description'],
      },
      minItems: 1,
    },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: {
        type: 'object',
        propertyNames: { enum: ['get', 'post', 'put', 'patch', 'delete'] },
        additionalProperties: { $ref: '#/$defs/operation' },
      },
    },
    components: {
      type: 'object',
      properties: {
        schemas: { type: 'object' },
        responses: { type: 'object', additionalProperties: { $ref: '#/$defs/response' } },
        securitySchemes: { type: 'object' },
      },
      required: ['schemas', 'responses', 'securitySchemes'],
      additionalProperties: false,
    },
  },
  required: ['openapi', 'info', 'paths', 'components'],
  additionalProperties: false,
};

interface DocumentedOperation {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly [string];
  readonly security: Record<string, unknown>[];
  readonly parameters?: { in: string; name: string; required: boolean }[];
  readonly responses: Record<string, unknown>;
}

const operations: [route: string, operation: DocumentedOperation][] = Object.entries<
  Record<string, DocumentedOperation>
>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, DocumentedOperation] => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
);

describe('the OpenAPI document', () => {
  test('has the structure of OpenAPI 3.1', () => {
    const ajv = createValidator();
    expect(ajv.validate(STRUCTURE, document) || ajv.errorsText()).toBe(true);
  });

  test('has exactly the routes of the code, those that differ by a slash at the end once', () => {
    const routes = new Set(ROUTES.map(({ method, path }) => `${method} ${path.replace(/(?<=.)\/$/, '')}`));
    expect(operations.map(([route]) => route).sort()).toEqual([...routes].sort());
  });

  test('is without the findings of common linters: every operation succeeds and fails as documented', () => {
    const tags: string[] = document.tags.map(({ name }: { name: string }) => name);
    expect(document.info.contact).toBeDefined();
    expect(
      [
        ...new Set(
          operations.map(
            ([
              ,
              {
                tags: [tag],
              },
            ]) => tag,
          ),
        ),
      ].sort(),
    ).toEqual([...tags].sort());
    for (const [route, { responses, operationId, description }] of operations) {
      expect([route, description]).toEqual([route, expect.stringMatching(/./)]);
      const statuses = Object.keys(responses);
      const has = (pattern: RegExp) => statuses.some((status) => pattern.test(status));
      expect([route, has(/^2|^default$/), has(/^4/)]).toEqual([route, true, true]);
      expect(operationId).toMatch(/^[a-z]+(?:[A-Z][a-z0-9]*)*$/);
    }
    const used = JSON.stringify(document.paths);
    const kinds = Object.keys(document.components.responses);
    expect(kinds.filter((kind) => !used.includes(`"#/components/responses/${kind}"`))).toEqual([]);
  });

  test('describes malformed and unknown parameters of a path', () => {
    for (const [route, { responses }] of operations.filter(([name]) => name.includes('{')))
      expect([route, Object.keys(responses)]).toEqual([route, expect.arrayContaining(['400', '404'])]);
  });

  test('describes 503 of what FEATURES_OFF switches off', () => {
    const features = 'track identify query mcp dashboards alerts privacy admin sign-in'.split(' ');
    const switches = createFeatureSwitches(requireFeatures(features));
    const isOff = (method: string, url: string): boolean => {
      let refused: unknown;
      const res = { setHeader: () => res } as unknown as Response;
      switches({ method, url } as Request, res, (error) => {
        refused = error;
      });
      return refused instanceof PublicError && refused.status === 503;
    };
    const off = operations.filter(([route]) => isOff(...(route.split(' ') as [string, string])));
    expect(off.length).toBeGreaterThan(40);
    expect(off.filter(([, { responses }]) => !('503' in responses)).map(([route]) => route)).toEqual([]);
  });

  test('describes the pages that browsers get for errors', () => {
    const pages = ['GET /invitations/{token}', 'GET /unsubscribe/{token}', 'GET /oauth/authorize'];
    for (const [, { responses }] of operations.filter(([route]) => pages.includes(route)))
      expect(responses['503']).toMatchObject({ content: { 'application/json': {}, 'text/html': {} } });
  });

  test('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(document.info.version).toBe(version);
  });

  test('has no dangling references', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, ref = '']) => ref);
    const missing = refs.filter((ref) => ref.split('/').reduce((inside, key) => inside?.[key], document) === undefined);
    expect(refs.length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });

  test('has only valid schemas that are used', () => {
    const ajv = createValidator();
    const names = Object.keys(document.components.schemas);
    for (const name of names)
      expect(() => ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` })).not.toThrow();
    const text = JSON.stringify(document);
    expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  });

  test('has unique operation ids and declares every path parameter', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const [route, { parameters = [] }] of operations) {
      const named = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named);
    }
  });

  test('says which query parameters are required', () => {
    const required = operations.flatMap(([route, { parameters = [] }]) =>
      parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${route} ${name}`),
    );
    expect(required.sort()).toEqual([
      'POST /api/projects/{projectID}/dashboards key',
      'POST /api/projects/{projectID}/imports source',
      'PUT /api/projects/{projectID}/dashboards/{dashboardID} base_version',
      'PUT /api/projects/{projectID}/definitions base_version',
    ]);
  });

  test('has the body of imports, which is not JSON', () => {
    const { requestBody, responses } = document.paths['/api/projects/{projectID}/imports'].post;
    expect(Object.keys(requestBody.content)).toEqual(['application/octet-stream']);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '413']));
  });

  test('declares every security scheme that operations use', () => {
    const known = Object.keys(document.components.securitySchemes);
    expect(
      operations.flatMap(([, { security }]) => security.flatMap(Object.keys)).filter((name) => !known.includes(name)),
    ).toEqual([]);
  });
});

const limits = toEventLimits(
  parseConfig({
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    CLICKHOUSE_URL: 'http://x',
    SECRET_KEY_BASE: 'x'.repeat(32),
  }),
);

const ODD = [
  undefined,
  null,
  '',
  'x',
  'x'.repeat(300),
  'x'.repeat(600),
  0,
  1.5,
  2 ** 53,
  true,
  [],
  ['a'],
  {},
  { a: 1 },
  { '': 1 },
  { a: null, b: [1], c: { d: 1 } },
];

describe('the event schema accepts what /track accepts', () => {
  const fields = [
    'event_type',
    'user_id',
    'device_id',
    'session_id',
    'insert_id',
    'time',
    'event_properties',
    'user_properties',
    'library',
    'origin',
    'clientOriginated',
    'other',
  ];
  test.each(fields)('%s', (field) => {
    for (const value of ODD) {
      const event = { event_type: 'signup', [field]: value };
      const isTaken = findSkipReason(JSON.parse(JSON.stringify(event)), limits) === undefined;
      expect([value, eventSchema.safeParse(event).success]).toEqual([value, isTaken]);
    }
  });

  test('values that are not events', () => {
    expect(eventSchema.safeParse('signup').success).toBe(false);
    expect(batchSchema.safeParse({ events: {} }).success).toBe(false);
    expect(batchSchema.safeParse({ events: [{ event_type: 'a' }], origin: 'server', other: 1 }).success).toBe(true);
  });
});

describe('the schema of an identify call accepts what /identify accepts', () => {
  const OPS = ['$set', '$set_once', '$add', '$unset', '$other'];
  const bodies = [
    ...['user_id', 'device_id', 'user_properties', 'user_property_ops', 'other'].flatMap((field) =>
      ODD.map((value) => ({ user_id: 'ann', [field]: value })),
    ),
    ...OPS.flatMap((operator) => ODD.map((value) => ({ user_id: 'ann', user_property_ops: { [operator]: value } }))),
  ];
  test.each(bodies.map((body) => [JSON.stringify(body).slice(0, 60), body] as const))('%s', (_, body) => {
    const isTaken = (() => {
      try {
        parseIdentifyBody(Buffer.from(JSON.stringify(body)), limits);
        return true;
      } catch {
        return false;
      }
    })();
    expect(identifyBody.safeParse(JSON.parse(JSON.stringify(body))).success).toBe(isTaken);
  });
});
