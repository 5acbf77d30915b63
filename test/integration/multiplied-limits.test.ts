// Rate limits cannot be multiplied with many tokens, projects, organizations or sessions: they
// share common limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSession } from '../../src/accounts/sessions.js';
import { createOrganization, type NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject, join, send, signIn, type TestPerson } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const LIMIT = 5;
const [PROJECT_FACTOR, PERSON_FACTOR] = [2, 4];

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases({
    ANSWER_CACHE_BYTES: '0',
    TRACK_REQUESTS_PER_SECOND: String(LIMIT),
    IDENTIFY_REQUESTS_PER_SECOND: String(LIMIT),
    QUERY_REQUESTS_PER_SECOND: String(LIMIT),
    SESSION_REQUESTS_PER_SECOND: String(LIMIT),
    RATE_LIMIT_PROJECT_FACTOR: String(PROJECT_FACTOR),
    RATE_LIMIT_PERSON_FACTOR: String(PERSON_FACTOR),
  });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['query', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

interface Asked {
  readonly status: number;
  readonly error: string | undefined;
}

async function ask(route: string, headers: Record<string, string>, body?: object): Promise<Asked> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(`${processes.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, error: response.status === 429 ? JSON.parse(text).error : undefined };
}

/**
 * Runs all attempts concurrently. `windows` is the largest number of one-second windows that they
 * can fall into.
 */
async function flood(attempts: readonly (() => Promise<Asked>)[]) {
  const startedAt = Date.now();
  const answers = await Promise.all(attempts.map((attempt) => attempt()));
  const windows = 1 + Math.ceil((Date.now() - startedAt) / 1000);
  const passed = answers.filter(({ status }) => status !== 429).length;
  const errors = new Set(answers.flatMap(({ error }) => error ?? []));
  return { passed, errors, windows };
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

async function newTokens(project: NewProject, owner: TestPerson, count: number): Promise<string[]> {
  const body = { name: 'T', kind: 'service', scopes: ['query', 'track'] };
  const tokens: string[] = [];
  while (tokens.length < count) {
    const path = `POST /api/projects/${project.id}/tokens`;
    const answer = await send(processes.url, path, { session: owner.session, body });
    if (answer.status === 201) tokens.push(answer.body.token);
    else await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return tokens;
}

const query = (key: string) => () => ask('POST /query', { 'X-API-Key': key }, { q: 'a | count' });
const identify = (key: string) => () => ask('POST /identify', { 'X-API-Key': key }, { user_id: 'ann' });

describe('rate limits of a project with many tokens', () => {
  test.each([
    ['queries', query],
    ['identify calls', identify],
  ])('bound the %s of all tokens together', async (_, request) => {
    const { organization, people } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id);
    const tokens = await newTokens(project, people.owner, 8);
    // A busy machine spreads the requests over so many seconds that none is refused.
    await eventually(async () => {
      const { passed, errors, windows } = await flood(tokens.flatMap((token) => times(LIMIT, () => request(token))));
      expect(passed).toBeGreaterThanOrEqual(LIMIT);
      expect(passed).toBeLessThanOrEqual(LIMIT * PROJECT_FACTOR * windows);
      expect([...errors].join()).toContain(`the limit is ${LIMIT * PROJECT_FACTOR} per second for a project`);
    });
  });

  test('bound the events of all tokens together, and not those of another project', async () => {
    const { organization, people } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id);
    const other = await createTeamProject(postgres, databases, (await createTeam(postgres)).organization.id);
    const tokens = await newTokens(project, people.owner, 8);
    const track = (key: string) => ask('POST /track', { 'X-API-Key': key }, { event_type: 'a' });
    const refusal = `too many requests; the limit is ${LIMIT * PROJECT_FACTOR} per second for a project`;
    await eventually(async () => {
      const answers = await Promise.all(tokens.map(track));
      expect(answers.map(({ error }) => error)).toContain(refusal);
    });
    expect((await track(other.publicKey)).status).toBe(200);
  });

  test('one flooding key does not use up the limit of its project', async () => {
    const { organization, people } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id);
    const [loud = '', quiet = ''] = await newTokens(project, people.owner, 2);
    // A busy machine spreads the requests over so many seconds that two windows of the key fall
    // into one of the project.
    await eventually(async () => {
      const floods = flood(times(20 * LIMIT, () => query(loud)));
      const [{ status }, { errors }] = await Promise.all([query(quiet)(), floods]);
      expect(status).toBe(200);
      expect(errors).toEqual(new Set([`too many requests; the limit is ${LIMIT} per second for a key`]));
    });
  });
});

describe('rate limits of a person', () => {
  test("bound the queries of the person's projects in all organizations together", async () => {
    const person = await signIn(postgres);
    const keys: string[] = [];
    for (let made = 0; made < 8; made += 1) {
      const { id } = await createOrganization(postgres, { name: 'Shell', ownerId: person.id });
      keys.push((await createTeamProject(postgres, databases, id)).secretKey);
    }
    const { passed, errors, windows } = await flood(keys.flatMap((key) => times(LIMIT, () => query(key))));
    expect(passed).toBeLessThanOrEqual(LIMIT * PERSON_FACTOR * windows);
    expect([...errors].join()).toContain(`${LIMIT * PERSON_FACTOR} per second for all that one person has`);
  });

  test('bound the requests of all sessions together', async () => {
    const person = await signIn(postgres);
    const sessions = await Promise.all(times(8, () => createSession(postgres, person.id)));
    const list = (session: string) => () => ask('GET /api/orgs', { Cookie: `service_session=${session}` });
    const { passed, errors, windows } = await flood(sessions.flatMap((session) => times(LIMIT, () => list(session))));
    expect(passed).toBeLessThanOrEqual(LIMIT * PERSON_FACTOR * windows);
    expect([...errors].join()).toContain('for all that one person has');
  });

  test('queries of many members share the limit of the project', async () => {
    const { organization } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id);
    const people = await Promise.all(times(8, () => signIn(postgres)));
    for (const person of people) await join(postgres, organization.id, person, 'member');
    const question =
      ({ session }: TestPerson) =>
      () =>
        ask(
          `POST /api/projects/${project.id}/query`,
          { Cookie: `service_session=${session}`, Origin: processes.url },
          { q: 'a | count' },
        );
    const { passed, windows } = await flood(people.flatMap((person) => times(LIMIT, () => question(person))));
    expect(passed).toBeLessThanOrEqual(LIMIT * PROJECT_FACTOR * windows);
  });
});
