// Creates the two tenants of a run, each with its own organization and history: A attacks, B is
// measured.
import { type Stack, selectNumber } from '../../bench/stack.js';
import { upsertPerson } from '../../src/accounts/people.js';
import { createSession } from '../../src/accounts/sessions.js';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import type { Config } from '../../src/platform/config.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';

type MeasuredStack = Pick<Stack, 'url' | 'clickhouse'>;

export interface Tenant {
  readonly url: string;
  readonly projectId: string;
  readonly publicKey: string;
  readonly secretKey: string;
  /** Session cookie of the owner. */
  readonly cookie: string;
}

/** Users that probes and attacks export, erase or query. */
export const EXPORTED_PERSON = 'exported';
export const BULKY_PERSON = 'bulky';
export const erasedPerson = (number: number): string => `erased-${number}`;
export const ERASED_PEOPLE = 600;

const BATCH_EVENTS = 1000;
const PEOPLE_OF_B = 50;
const EVENTS_OF_B = 2000;
const EVENTS_OF_A = 20_000;
const BULK = 'x'.repeat(1500);
const COUNTED_TIMEOUT_MS = 120_000;

export async function createTenants(stack: MeasuredStack, config: Config): Promise<{ a: Tenant; b: Tenant }> {
  const postgres = createPostgres(config, { poolMax: 1 });
  try {
    const create = (name: string) =>
      createTenant(postgres, { name, url: stack.url, secretKeyBase: config.SECRET_KEY_BASE });
    const [a, b] = [await create('A'), await create('B')];
    await sendEvents(stack, a, [...eventsOfErasedPeople(), ...eventsOfA()]);
    await sendEvents(stack, b, [...eventsOfErasedPeople(), ...eventsOfB()]);
    return { a, b };
  } finally {
    await postgres.destroy();
  }
}

async function createTenant(
  postgres: Postgres,
  { name, url, secretKeyBase }: { name: string; url: string; secretKeyBase: string },
): Promise<Tenant> {
  const email = `${name.toLowerCase()}@example.com`;
  const ownerId = await upsertPerson(postgres, { provider: 'run', subject: name, email, emailVerified: true, name });
  const organization = await createOrganization(postgres, { name, ownerId });
  const project = await createProject(postgres, { organizationId: organization.id, name, secretKeyBase });
  const session = await createSession(postgres, ownerId);
  return {
    url,
    projectId: project.id,
    publicKey: project.publicKey,
    secretKey: project.secretKey,
    cookie: `service_session=${session}`,
  };
}

type Events = readonly Readonly<Record<string, unknown>>[];

const times = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => create(index));

const eventsOfErasedPeople = (): Events =>
  times(ERASED_PEOPLE * 3, (index) => ({ event_type: 'visit', user_id: erasedPerson(index % ERASED_PEOPLE) }));

const eventsOfB = (): Events => [
  ...times(200, () => ({
    event_type: 'visit',
    user_id: EXPORTED_PERSON,
    event_properties: { note: BULK.slice(0, 100) },
  })),
  ...times(EVENTS_OF_B, (index) => ({
    event_type: ['page_view', 'signup', 'purchase'][index % 3],
    user_id: `person-${index % PEOPLE_OF_B}`,
    event_properties: { plan: ['free', 'pro'][index % 2], amount: index },
  })),
];

/** Half of the events are large and of one person, whose export takes long. */
const eventsOfA = (): Events =>
  times(EVENTS_OF_A, (index) => ({
    event_type: 'visit',
    user_id: index % 2 === 0 ? BULKY_PERSON : `person-${index}`,
    event_properties: {
      ...Object.fromEntries(times(20, (key) => [`p${key}`, `${(index * (key + 7)) % 1000}`])),
      ...(index % 2 === 0 && { bulk: BULK }),
    },
  }));

async function sendEvents(stack: MeasuredStack, tenant: Tenant, events: Events): Promise<void> {
  for (let from = 0; from < events.length; from += BATCH_EVENTS) {
    await sendBatch(tenant, JSON.stringify({ events: events.slice(from, from + BATCH_EVENTS) }));
  }
  const deadline = Date.now() + COUNTED_TIMEOUT_MS;
  const query = `SELECT count() FROM events WHERE project_id = '${tenant.projectId}'`;
  while ((await selectNumber(stack, query)) < events.length) {
    if (Date.now() > deadline) throw new Error('the events for the run were not counted in time');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sends as fast as the project's rate limit allows: rejected requests are repeated. */
async function sendBatch(tenant: Tenant, body: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${tenant.url}/track`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': tenant.publicKey },
      body,
    });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 429) throw new Error(`events for the run were refused: ${response.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
