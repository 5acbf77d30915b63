// How a worker records names of blocks: before and after their events are stored, many at once, and
// while PostgreSQL is slow or away.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.js';
import { forgetMissed, keepMissed, markMissed } from '../../src/catalog/missed-projects.js';
import type { CatalogName } from '../../src/catalog/names.js';
import { CatalogReader } from '../../src/catalog/reader.js';
import { CatalogRecorder } from '../../src/catalog/recorder.js';
import {
  findCatalog,
  forgetValues,
  listNames,
  readGenerations,
  readNames,
  replaceNames,
  saveNames,
} from '../../src/catalog/store.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { startStoreRelay } from '../support/store-relay.js';

const log = createLogger({ process: 'test', level: 'fatal' });

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

afterAll(async () => {
  await postgres?.destroy();
  redis?.disconnect();
  await databases?.close();
});

const newProject = () => toProjectId(randomUUID());

const generationOf = async (projectId: string) => (await readGenerations(postgres, [projectId])).get(projectId);

const eventName = (name: string, events = 1) => ({ kind: 'event', field: '', name, events }) as const;
const seenNames = (...names: CatalogName[]) => ({ names: () => names });

/** A block in which events of this type were seen. */
const seenEvent = (projectId: string, eventType: string, events: number) =>
  new Map([[projectId, seenNames(eventName(eventType, events))]]);

/** PostgreSQL by way of a relay, with an open connection. */
async function startRelayed() {
  const relay = await startStoreRelay(databases.config.DATABASE_URL);
  const relayed = createPostgres({ DATABASE_URL: relay.url });
  closing.push(
    () => relayed.destroy(),
    () => relay.close(),
  );
  await relayed.raw('SELECT 1');
  return { relay, relayed };
}

test('names are announced once, and the project of refused events is rebuilt', async () => {
  const projectId = newProject();
  const recorder = new CatalogRecorder({ postgres, redis, log });
  const seen = seenEvent(projectId, 'signup', 3);
  const stored = async () => (await listNames(postgres, projectId)).map(({ name, events }) => [name, events]);
  const version = async () => (await findCatalog(postgres, projectId))?.version;
  await Promise.all([recorder.announce(seen), recorder.announce(seen)]);
  await recorder.announce(seen);
  expect(await version()).toBe(1);
  expect(await stored()).toEqual([['signup', 0]]);
  await recorder.record(seen);
  expect(await stored()).toEqual([['signup', 3]]);
  expect(await generationOf(projectId)).toBe(0);
  await recorder.retract([projectId]);
  await markMissed(postgres, redis);
  expect(await generationOf(projectId)).toBe(1);
});

test('a recorder that is closed stores the counts that have not doubled', async () => {
  const [one, other] = [newProject(), newProject()];
  const recorder = new CatalogRecorder({ postgres, redis, log });
  const eventsOf = async (projectId: string) =>
    (await listNames(postgres, toProjectId(projectId))).map(({ events }) => events);
  for (const projectId of [one, other]) {
    await recorder.record(seenEvent(projectId, 'signup', 5));
    await recorder.record(seenEvent(projectId, 'signup', 3));
  }
  expect(await eventsOf(one)).toEqual([5]);
  // Counts of an earlier generation: the rebuild finds them.
  await forgetValues(postgres, other);
  await recorder.close();
  await recorder.close();
  expect(await eventsOf(one)).toEqual([8]);
  expect(await eventsOf(other)).toEqual([5]);
});

test('a catalog that is read now has all names that were stored before, although an older read still runs', async () => {
  const projectId = newProject();
  const recorder = new CatalogRecorder({ postgres, redis, log });
  const record = (eventType: string) => recorder.record(seenEvent(projectId, eventType, 1));
  await record('first');
  // The older read waits with the names that it has read.
  let [tell, goOn] = [() => {}, () => {}];
  const hasRead = new Promise<void>((resolve) => (tell = resolve));
  const goesOn = new Promise<void>((resolve) => (goOn = resolve));
  const raw = async (sql: string, values: unknown[]) => {
    const answer = await postgres.raw(sql, values as string[]);
    if (sql.includes('FROM catalog_names')) {
      tell();
      await goesOn;
    }
    return answer;
  };
  const reader = new CatalogReader({ raw } as unknown as Postgres);
  const older = reader.read(projectId);
  await hasRead;
  await record('second');
  const now = [reader.readNow(projectId), reader.readNow(projectId)];
  goOn();
  const eventsOf = async (catalog: Promise<Catalog>) => [...(await catalog).events.keys()];
  expect(await eventsOf(older)).toEqual(['first']);
  expect(await Promise.all(now.map(eventsOf))).toEqual([
    ['first', 'second'],
    ['first', 'second'],
  ]);
});

test('new names that take too long to store delay only their own project', async () => {
  const [many, few, later] = [newProject(), newProject(), newProject()];
  const { relay, relayed } = await startRelayed();
  const recorder = new CatalogRecorder({ postgres: relayed, redis, log });
  const keys = Array.from(
    { length: 5000 },
    (_, n) => ({ ...eventName('string'), kind: 'key', field: `event_properties.k${n}` }) as const,
  );
  // A portion takes 0.8 s.
  relay.delay(200);
  await recorder.record(
    new Map([
      [many, seenNames(...keys)],
      [few, seenNames(eventName('a'))],
    ]),
  );
  await recorder.record(seenEvent(later, 'b', 1));
  relay.delay(0);
  await markMissed(postgres, redis);
  for (const [projectId, name] of [
    [few, 'a'],
    [later, 'b'],
  ] as const) {
    expect(await listNames(postgres, projectId)).toEqual([eventName(name)]);
    expect(await generationOf(projectId)).toBe(0);
  }
  expect(await generationOf(many)).toBe(1);
});

test('names are stored while a rebuild stores the same ones, and neither fails', async () => {
  const project = { projectId: newProject(), generation: 0 };
  const names = Array.from({ length: 1500 }, (_, n) => eventName(`e${n}`));
  const seen = new Map([[project.projectId, seenNames(...names)]]);
  for (let round = 0; round < 10; round += 1) {
    const recorder = new CatalogRecorder({ postgres, redis, log });
    await Promise.all([recorder.record(seen), replaceNames(postgres, project, names, 0)]);
  }
  expect(await generationOf(project.projectId)).toBe(0);
  expect(await findCatalog(postgres, project.projectId)).toMatchObject({ isComplete: true });
});

test('names of a block that began before an erasure are left out', async () => {
  const [erased, other] = [newProject(), newProject()];
  await forgetValues(postgres, erased);
  const names = [{ ...eventName('ally'), kind: 'value', field: 'event_properties.nickname' } as const];
  const found = [erased, other].map((projectId) => ({ projectId, generation: 0, names, dropped: [] }));
  await saveNames(postgres, found);
  expect(await listNames(postgres, erased)).toEqual([]);
  expect(await listNames(postgres, other)).toEqual(names);
});

test('a rebuild that ends after an erasure stores nothing', async () => {
  const project = { projectId: newProject(), generation: 0 };
  await forgetValues(postgres, project.projectId);
  expect(await replaceNames(postgres, project, [eventName('a')], 0)).toBe(false);
  expect(await listNames(postgres, project.projectId)).toEqual([]);
  expect(await findCatalog(postgres, project.projectId)).toMatchObject({ isComplete: false });
});

test('recording does not fail or block without PostgreSQL, and the project is rebuilt afterwards', async () => {
  const [projectId, deleted] = [newProject(), newProject()];
  const { relay, relayed } = await startRelayed();
  await relay.cut();
  // It resolves while PostgreSQL cannot be reached, and the worker may end.
  const recorder = new CatalogRecorder({ postgres: relayed, redis, log });
  await recorder.record(seenEvent(projectId, 'missed', 1));
  await recorder.record(seenEvent(deleted, 'missed', 1));
  await forgetMissed(redis, deleted);
  await expect(markMissed(relayed, redis)).rejects.toThrow();
  await relay.restore();
  await eventually(() => relayed.raw('SELECT 1'), 30_000);
  for (let round = 0; round < 2; round += 1) await markMissed(relayed, redis);
  expect(await generationOf(projectId)).toBe(1);
  expect(await generationOf(deleted)).toBeUndefined();
  expect(await redis.exists('catalog:missed')).toBe(0);

  await new CatalogRecorder({ postgres: relayed, redis, log }).record(seenEvent(projectId, 'later', 1));
  const names = (await readNames(postgres, [projectId])).get(projectId);
  expect(names).toMatchObject([{ name: 'later' }]);
});

test('a project that is missed while its rebuild begins is rebuilt once more', async () => {
  const projectId = newProject();
  await keepMissed(redis, [projectId]);
  let isFirst = true;
  const raw = async (sql: string, values: string[]) => {
    const answer = await postgres.raw(sql, values);
    if (isFirst) await keepMissed(redis, [projectId]);
    isFirst = false;
    return answer;
  };
  await markMissed({ raw } as unknown as Postgres, redis);
  expect(await generationOf(projectId)).toBe(2);
});
