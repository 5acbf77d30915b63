// Common behaviour of the clients (clients/behaviours.json), tested with all three.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignVariant } from '../../clients/node/src/assignment.js';
import { VERSION } from '../../clients/node/src/version.js';
import { packageRoot } from '../../src/platform/paths.js';
import { launchBrowser } from '../support/browser.js';
import {
  type ClientCall,
  type ClientDriver,
  createBrowserDriver,
  nodeDriver,
  pythonDriver,
  runPython,
} from '../support/client-drivers.js';
import { eventually } from '../support/eventually.js';
import type { RecordedRequest } from '../support/scripted-server.js';

const read = (path: string): string => readFileSync(join(packageRoot, 'clients', path), 'utf8');

interface Behaviours {
  readonly assignments: readonly {
    readonly seed: string;
    readonly environment: string;
    readonly choice_key: string;
    readonly subject: string;
    readonly variants: readonly string[];
    readonly weights?: readonly number[];
    readonly variant_key: string;
    readonly variant_weight: number;
    readonly assignment_id: string;
  }[];
  readonly requests: readonly {
    readonly name: string;
    readonly calls: readonly ClientCall[];
    readonly flush?: boolean;
    readonly refused?: number;
    readonly requests: readonly { readonly path: string; readonly events?: object[]; readonly body?: object }[];
  }[];
  readonly answers: readonly {
    readonly name: string;
    readonly answers: readonly { readonly status: number; readonly retry_after?: string }[];
    readonly attempts: number;
    /** At least, between one attempt and the next. */
    readonly seconds: readonly number[];
    readonly lost: number;
  }[];
}

const behaviours = JSON.parse(read('behaviours.json')) as Behaviours;
const key = 'pk_behaviours';
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const CLIENTS: readonly [string, () => ClientDriver][] = [
  ['the browser script', () => createBrowserDriver(browser)],
  ['the Node client', () => nodeDriver],
  ['the Python client', () => pythonDriver],
];

const pythonVersion = read('python/pyproject.toml').match(/^version = "(.*)"$/m)?.[1];

test('every client contains the version of its package', () => {
  expect((JSON.parse(read('node/package.json')) as { version: string }).version).toBe(VERSION);
  expect(read('python/event_analytics/_version.py')).toContain(`VERSION = "${pythonVersion}"`);
});

// Cases of one client run concurrently, because their retry delays are real.
describe.each(CLIENTS)('%s', (_, driverOf) => {
  test.concurrent.each(behaviours.requests)('sends $name', async ({ calls, flush = true, refused = 0, requests }) => {
    const driver = driverOf();
    const { results, lost, server } = await driver.run({ calls, key, flush });
    const sent = await eventually(() => {
      expect(server.requests.map(({ path }) => path)).toEqual(requests.map(({ path }) => path));
      return server.requests;
    });
    requests.forEach(({ events, body }, index) => {
      if (events === undefined) expect(sent[index]?.body).toMatchObject(body ?? {});
      else expect(sent[index]?.body.events).toMatchObject(events);
    });
    for (const event of sent.flatMap(({ body }) => body.events ?? [])) {
      expect(event.insert_id).toMatch(/^[\w-]{22,}$/);
      expect(event.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(event.library).toMatch(driver.library);
    }
    for (const request of sent) expect(keyOf(request)).toBe(key);
    expect(results.filter((result) => result === 'refused')).toHaveLength(refused);
    expect(lost).toBe(0);
    await server.close();
  });

  test.concurrent.each(behaviours.answers)('$name', async ({ answers, attempts, seconds, lost }) => {
    const calls = [{ call: 'track', event_type: 'a' }];
    const outcome = await driverOf().run({ calls, key, flush: true, answers });
    const { requests } = outcome.server;
    expect(requests).toHaveLength(attempts);
    expect(new Set(requests.map(({ text }) => text)).size).toBe(1);
    seconds.forEach((atLeast, index) => {
      const waited = ((requests[index + 1]?.at ?? 0) - (requests[index]?.at ?? 0)) / 1000;
      expect(waited).toBeGreaterThan(atLeast - 0.05);
    });
    expect(outcome.lost).toBe(lost);
    await outcome.server.close();
  });
});

const keyOf = ({ headers, query }: RecordedRequest) => headers['x-api-key'] ?? query.get('key');

describe('variant assignment', () => {
  test.each(behaviours.assignments)(
    'JavaScript assigns $subject in $choice_key with seed $seed as specified',
    (row) => {
      expect(
        assignVariant([row.seed, row.environment, row.choice_key, row.subject], row.variants, row.weights),
      ).toEqual({
        variant: row.variant_key,
        weight: row.variant_weight,
        assignmentId: row.assignment_id,
      });
    },
  );

  test('Python assigns every subject as specified', async () => {
    for (const seed of new Set(behaviours.assignments.map((row) => row.seed))) {
      const rows = behaviours.assignments.filter((row) => row.seed === seed);
      const calls = rows.map(({ choice_key, variants, environment, weights, subject }) => ({
        call: 'assign',
        key: choice_key,
        variants,
        environment,
        weights,
        device_id: subject,
      }));
      const { results } = await runPython({ calls, key, host: 'http://127.0.0.1:9', project_id: seed });
      expect(results).toMatchObject(
        rows.map(({ variant_key, variant_weight, assignment_id }) => ({ variant_key, variant_weight, assignment_id })),
      );
    }
  });
});
