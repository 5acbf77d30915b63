// The catalog of a project: what ingestion and identify calls add to it, what a rebuild finds, what
// erasure and deletion remove, and the warnings about unknown names in queries.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markProjectDeleted } from '../../src/accounts/projects.js';
import { EVENT_TYPES } from '../../src/catalog/names.js';
import { findNames } from '../../src/catalog/rebuild.js';
import { listNames } from '../../src/catalog/store.js';
import { groupBy } from '../../src/platform/group-by.js';
import { type Answer, createTeam, createTeamProject, send } from '../support/accounts.js';
import { type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';

let stack: ErasureStack;
let url: string;

beforeAll(async () => {
  stack = await startErasureStack();
  url = stack.processes.url;
}, 240_000);

afterAll(() => stack?.close());

const readCatalog = async ({ project }: Pick<Tenant, 'project'>): Promise<Answer['body']> =>
  (await send(url, 'GET /catalog', { key: project.secretKey })).body;

/** A rebuild rests 20 times as long as the last one took, which is minutes on a busy machine. */
const endRest = ({ project }: Pick<Tenant, 'project'>) =>
  stack
    .postgres('catalog_projects')
    .where({ project_id: project.id })
    .update({ rebuild_after: stack.postgres.fn.now() });

/** Resolves when the catalog is complete and `isReached`. */
const reaches = (tenant: Pick<Tenant, 'project'>, isReached: (catalog: Answer['body']) => void) =>
  eventually(async () => {
    await endRest(tenant);
    const catalog = await readCatalog(tenant);
    expect(catalog.complete).toBe(true);
    isReached(catalog);
    return catalog;
  }, 120_000);

const query = (tenant: Tenant, q: string, format = 'json') =>
  send(url, 'POST /query', { key: tenant.project.secretKey, body: { q, format } });

test('the catalog lists names of events and profiles, most frequent first', async () => {
  const tenant = await stack.createTenant();
  await reaches(tenant, () => {});
  const event = (event_type: string, plan: string) => ({
    event_type,
    user_id: 'alice',
    event_properties: { plan, seats: 3, trial: true, 'odd "key"': 'x', note: null },
    user_properties: { team: 'blue' },
  });
  await tenant.send(event('signup', 'free'), event('signup', 'pro'), event('purchase', 'pro'));
  await tenant.identify('alice', 'phone', { tier: 'gold', age: 40, email: 'alice@example.com' });
  const catalog = await eventually(async () => {
    const known = await readCatalog(tenant);
    // New names are stored before their counts.
    expect(known.events).toEqual([expect.objectContaining({ count: 2 }), expect.objectContaining({ count: 1 })]);
    expect(known.profile).toHaveLength(3);
    return known;
  });
  expect(catalog).toEqual({
    complete: true,
    events: [
      { event_type: 'signup', count: 2 },
      { event_type: 'purchase', count: 1 },
    ],
    properties: expect.arrayContaining([
      { field: 'event_properties.plan', types: ['string'] },
      { field: 'event_properties.seats', types: ['number'] },
      { field: 'event_properties.trial', types: ['boolean'] },
      { field: 'event_properties.odd "key"', types: ['string'] },
      { field: 'event_properties.note', types: [] },
      { field: 'user_properties.team', types: ['string'] },
    ]),
    profile: expect.arrayContaining([
      { field: 'user.tier', types: ['string'] },
      { field: 'user.age', types: ['number'] },
      { field: 'user.email', types: ['string'] },
    ]),
    values: expect.arrayContaining([
      { field: 'event_properties.plan', values: ['pro', 'free'], distinct: 2 },
      { field: '_platform', values: ['web'], distinct: 1 },
      { field: 'user.tier', values: ['gold'], distinct: 1 },
    ]),
    definitions: { version: 0, events: [], cohorts: [], metrics: [] },
  });
  expect(JSON.stringify(catalog)).not.toContain('alice');

  const { project: other } = await stack.createTenant();
  expect(await readCatalog({ project: other })).toMatchObject({ events: [], properties: [], values: [] });
});

test('a query with an unknown name gets a warning in every format', async () => {
  const tenant = await stack.createTenant();
  await tenant.send({ event_type: 'purchase', event_properties: { plan: 'pro' } });
  await reaches(tenant, ({ events }) => expect(events).toHaveLength(1));
  const warning = 'no event "purchases" in this project; nearest: "purchase"';
  // The catalog that a query read earlier may be a few seconds old.
  await eventually(async () => {
    const { body } = await query(tenant, 'purchases | count');
    expect(body).toMatchObject({ rows: [{ value: 0 }], metadata: { warnings: [warning] } });
  });
  expect((await query(tenant, 'purchases | count', 'llm')).body).toContain(warning);
  expect((await query(tenant, 'purchases | count', 'csv')).status).toBe(200);
  expect((await query(tenant, 'purchase[plan = "prro"] | count')).body.metadata.warnings).toEqual([
    'plan is never "prro"; nearest: "pro"',
  ]);
  expect((await query(tenant, 'purchase[plan = "pro"] | count')).body.metadata).toEqual({});
  // A field that is unknown is perhaps a property that was sent.
  const { status, body } = await query(tenant, 'purchase | count by plan');
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { details: [{ hint: 'nearest is "event_properties.plan"', fix: { text: 'event_properties.plan' } }] },
  });
  // A name that is new is known at once, although the last query read the catalog a moment ago.
  await tenant.send({ event_type: 'purchases' });
  await reaches(tenant, ({ events }) => expect(events).toHaveLength(2));
  expect((await query(tenant, 'purchases | count')).body).toMatchObject({ rows: [{ value: 1 }], metadata: {} });
});

test('members can read the catalog of their project', async () => {
  const team = await createTeam(stack.postgres);
  const config = { config: { SECRET_KEY_BASE: 'x'.repeat(64) } } as Parameters<typeof createTeamProject>[1];
  const project = await createTeamProject(stack.postgres, config, team.organization.id);
  const { status, body } = await send(url, `GET /api/projects/${project.id}/catalog`, team.people.member);
  expect(status).toBe(200);
  expect(body).toMatchObject({ events: [], values: [] });
});

test('a rebuild finds the same names as ingestion', async () => {
  const tenant = await stack.createTenant();
  const events = [
    { plan: 'pro', code: 7, seats: '12', trial: true, note: null, empty: '' },
    { plan: 'free', code: 'x', long: 'x'.repeat(200) },
    { plan: 'pro', nested: { a: 1 } },
  ].map((event_properties) => ({ event_type: 'old', user_id: 'alice', event_properties, user_properties: { a: 'b' } }));
  await tenant.send(
    ...events,
    ...Array.from({ length: 1001 }, (_, n) => ({ event_type: 'id', event_properties: { id: `n${n}` } })),
  );
  await tenant.identify('alice', undefined, { tier: 'gold', visits: 1, email: 'alice@example.com' });
  const { events: types } = await reaches(tenant, (found) => {
    expect(found.events).toHaveLength(2);
    expect(found.profile).toHaveLength(3);
  });
  expect(types.map(({ event_type }: { event_type: string }) => event_type)).toEqual(['id', 'old']);
  const { id } = tenant.project;
  const stored = async () =>
    (await listNames(stack.postgres, id)).map(({ events: _, ...name }) => JSON.stringify(name));
  const names = await stored();
  expect(names).toContain('{"kind":"many","field":"event_properties.id","name":""}');
  expect(names).toContain('{"kind":"many","field":"event_properties.long","name":""}');
  expect(names).toContain('{"kind":"many","field":"user.email","name":""}');
  expect(names).toContain('{"kind":"value","field":"user_properties.a","name":"b"}');

  await stack.postgres('catalog_names').where({ project_id: id }).delete();
  await stack.postgres('catalog_projects').where({ project_id: id }).delete();
  await eventually(async () => expect((await stored()).sort()).toEqual(names.sort()), 60_000);
  expect((await listNames(stack.postgres, id)).filter(({ kind }) => kind === 'event')).toEqual([
    { kind: 'event', field: '', name: 'id', events: 1001 },
    { kind: 'event', field: '', name: 'old', events: 3 },
  ]);
}, 360_000);

test('a rebuild finds profiles without events, and lists all values of a field or none', async () => {
  const { project } = await stack.createTenant();
  const { client } = stack.store;
  const fill = (query: string) => client.command({ query, query_params: { id: project.id } });
  await fill(
    `INSERT INTO profiles (project_id, user_id, props_str, version) SELECT {id:UUID}, 'a', map('tier', 'gold'), 1`,
  );
  expect(await findNames(client, project.id)).toEqual([
    { kind: 'key', field: 'user.tier', name: 'string', events: 1 },
    { kind: 'value', field: 'user.tier', name: 'gold', events: 1 },
  ]);
  // 25 fields of 900 values are more than a catalog has.
  await fill(`INSERT INTO events (project_id, event_type, time, insert_id, hostname, ep_str)
    SELECT {id:UUID}, concat('e', toString(number % 2001)), now(), toString(number), toString(number % 1001),
      map(concat('f', toString(number % 25)), toString(intDiv(number, 25) % 900)) FROM numbers(22500)`);
  const names = await findNames(client, project.id);
  const ofKind = (kind: string) => names.filter((name) => name.kind === kind);
  expect(ofKind('event')).toHaveLength(2000);
  const valuesOf = groupBy(ofKind('value'), ({ field }) => field);
  const fields = [...valuesOf].filter(([, values]) => values.length > 1);
  expect(fields.map(([, values]) => values.length)).toEqual(fields.map(() => 900));
  const many = ofKind('many').map(({ field }) => field);
  expect(many).toEqual(expect.arrayContaining([EVENT_TYPES, '_hostname']));
  expect([fields.length + many.length, fields.length > 15, many.length > 3]).toEqual([25 + 2, true, true]);
});

test('an erasure removes values that only the erased person sent, and the other values are found again', async () => {
  const tenant = await stack.createTenant();
  const event = (user_id: string, nickname: string) => ({
    event_type: nickname,
    user_id,
    event_properties: { nickname, plan: 'pro', [nickname]: 1 },
  });
  await tenant.send(event('alice', 'ally'), event('bob', 'bobby'));
  await tenant.identify('alice', undefined, { motto: 'ally' });
  await tenant.identify('bob', undefined, { motto: 'bobby' });
  await reaches(tenant, (found) => {
    expect(JSON.stringify(found.events)).toContain('ally');
    expect(JSON.stringify(found.profile)).toContain('motto');
  });
  expect((await tenant.gdpr.erase('alice')).body).toMatchObject({ status: 'deleted' });
  const rows = await stack
    .postgres('catalog_names')
    .where({ project_id: tenant.project.id, name: 'ally', kind: 'value' });
  expect(rows).toEqual([]);
  const after = await eventually(async () => {
    const found = await readCatalog(tenant);
    expect(JSON.stringify(found)).not.toContain('ally');
    expect(found.complete).toBe(true);
    return found;
  }, 240_000);
  expect(after).toMatchObject({
    events: [{ event_type: 'bobby', count: 1 }],
    values: expect.arrayContaining([
      { field: 'event_properties.nickname', values: ['bobby'], distinct: 1 },
      { field: 'event_properties.plan', values: ['pro'], distinct: 1 },
      { field: 'user.motto', values: ['bobby'], distinct: 1 },
    ]),
  });
  // The worker held this value as known. Another person sends it, so it has to be stored again.
  await tenant.send(event('carol', 'ally'));
  await reaches(tenant, ({ values }) =>
    expect(values).toContainEqual({ field: 'event_properties.nickname', values: ['ally', 'bobby'], distinct: 2 }),
  );
});

test('a flood of names in one project is bounded in rows and does not affect another project', async () => {
  const [attacker, other] = [await stack.createTenant(), await stack.createTenant()];
  const countRows = async (kind: string): Promise<number> => {
    const [row] = await stack.postgres('catalog_names').where({ project_id: attacker.project.id, kind }).count();
    return Number(row?.count);
  };
  let number = 0;
  const requests = Array.from({ length: 22 }, () =>
    Array.from({ length: 100 }, () => {
      number += 1;
      const keys = Array.from({ length: 10 }, (_, key) => [`k${number}_${key}`, `v${number}`]);
      return { event_type: `e${number}`, event_properties: { id: `i${number}`, ...Object.fromEntries(keys) } };
    }),
  );
  await reaches(attacker, () => {});
  // While the names of the first request wait, the others become a block that has more event types
  // than a catalog.
  const lock = await stack.postgres.transaction();
  try {
    await lock.raw('LOCK TABLE catalog_names IN EXCLUSIVE MODE');
    for (const events of requests) await attacker.send(...events);
    await delay(500);
  } finally {
    await lock.rollback();
  }
  await other.send({ event_type: 'a', event_properties: { plan: 'pro' } });
  await reaches(other, ({ events, values }) => {
    expect(events).toHaveLength(1);
    expect(values).toContainEqual({ field: 'event_properties.plan', values: ['pro'], distinct: 1 });
  });
  await attacker.holds(2200);
  // Names that a busy machine could not store in time are found by a rebuild.
  await eventually(async () => {
    await endRest(attacker);
    expect((await readCatalog(attacker)).events).toHaveLength(2000);
    // Until the rebuild has ended, names of the generation before it are there, too.
    expect(await countRows('event')).toBe(2000);
  }, 120_000);
  // A key is counted with each of its types.
  expect(await countRows('key')).toBeLessThanOrEqual(5000);
  expect(await countRows('value')).toBeLessThanOrEqual(20_000);
  // On a busy machine the definitions may take too long to read, which an answer says.
  await eventually(async () =>
    expect((await query(attacker, 'nothing[none = "x"] | count')).body.metadata).toEqual({}),
  );
}, 300_000);

test('deleting a project deletes its catalog', async () => {
  const tenant = await stack.createTenant();
  await tenant.send({ event_type: 'a', event_properties: { plan: 'pro' } });
  await reaches(tenant, ({ events }) => expect(events).toHaveLength(1));
  const { id } = tenant.project;
  const left = async () =>
    (await stack.postgres('catalog_names').where({ project_id: id })).length +
    (await stack.postgres('catalog_projects').where({ project_id: id })).length;
  expect(await left()).toBeGreaterThan(1);
  const actor = { kind: 'person', id: 'test' } as const;
  const deletion = { project_name: 'Test', project_name_confirm: 'Test' };
  await markProjectDeleted(stack.postgres, id, { deletion, actor });
  await eventually(async () => expect(await left()).toBe(0), 30_000);
});

test('an event is counted only when its names are known, and no answer warns of them', async () => {
  const tenant = await stack.createTenant();
  await tenant.send({ event_type: 'first' });
  await reaches(tenant, ({ events }) => expect(events).toHaveLength(1));
  const ask = () => query(tenant, 'purchase[event_properties.plan = "pro"] | count');
  const lock = await stack.postgres.transaction();
  try {
    await lock.raw('LOCK TABLE catalog_names IN EXCLUSIVE MODE');
    await tenant.send({ event_type: 'purchase', event_properties: { plan: 'pro' } });
    // The worker waits two seconds at most.
    for (const until = performance.now() + 1_000; performance.now() < until; ) {
      expect((await ask()).body.rows).toMatchObject([{ count: 0 }]);
    }
  } finally {
    await lock.rollback();
  }
  const answer = await eventually(async () => {
    const { body } = await ask();
    expect(body.rows).toMatchObject([{ count: 1 }]);
    return body;
  });
  expect(answer.metadata).toEqual({});
});

test('the names of an event that ClickHouse refuses leave the catalog', async () => {
  const tenant = await stack.createTenant();
  await reaches(tenant, () => {});
  const { id } = tenant.project;
  const generation = async () =>
    (await stack.postgres('catalog_projects').where({ project_id: id }).first()).generation;
  const before = await generation();
  const alter = (what: string) => stack.store.client.command({ query: `ALTER TABLE events ${what}` });
  await alter("ADD CONSTRAINT no_poison CHECK insert_id != 'poison'");
  try {
    await tenant.send({ event_type: 'refused', insert_id: 'poison', user_id: 'ada' });
    // A rebuild finds the names of stored events only.
    await eventually(async () => expect(await generation()).toBe(before + 1), 60_000);
    await reaches(tenant, ({ events }) => expect(events).toEqual([]));
  } finally {
    await alter('DROP CONSTRAINT no_poison');
  }
});
