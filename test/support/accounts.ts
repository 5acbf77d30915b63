// Fixture of tests of the management routes: signed-in people and their requests.
import { randomBytes } from 'node:crypto';
import type { Role } from '../../src/access/roles.js';
import { upsertPerson } from '../../src/accounts/people.js';
import { createSession } from '../../src/accounts/sessions.js';
import { createOrganization, createProject, type NewOrganization, type NewProject } from '../../src/accounts/store.js';
import type { Postgres } from '../../src/platform/postgres/client.js';
import { expectDocumented } from './contract.js';
import type { TestDatabases } from './stack.js';

export interface TestPerson {
  readonly id: string;
  readonly email: string;
  /** The session cookie's value. */
  readonly session: string;
}

export async function signIn(
  postgres: Postgres,
  fields: { email?: string; emailVerified?: boolean } = {},
): Promise<TestPerson> {
  const subject = randomBytes(8).toString('hex');
  const email = fields.email ?? `${subject}@example.com`;
  const emailVerified = fields.emailVerified ?? true;
  const id = await upsertPerson(postgres, {
    provider: 'test',
    subject,
    email,
    emailVerified,
    name: `Person ${subject}`,
  });
  return { id, email, session: await createSession(postgres, id) };
}

export interface TestTeam {
  readonly organization: NewOrganization;
  readonly people: Readonly<Record<Role, TestPerson>>;
}

export async function createTeam(postgres: Postgres): Promise<TestTeam> {
  const people = { owner: await signIn(postgres), admin: await signIn(postgres), member: await signIn(postgres) };
  const organization = await createOrganization(postgres, { name: 'Team', ownerId: people.owner.id });
  for (const role of ['admin', 'member'] as const) await join(postgres, organization.id, people[role], role);
  return { organization, people };
}

export async function join(postgres: Postgres, organizationId: string, person: TestPerson, role: Role): Promise<void> {
  await postgres('members').insert({ organization_id: organizationId, person_id: person.id, role });
}

export const createTeamProject = (
  postgres: Postgres,
  databases: TestDatabases,
  organizationId: string,
  name = 'Shop',
): Promise<NewProject> =>
  createProject(postgres, { organizationId, name, secretKeyBase: databases.config.SECRET_KEY_BASE });

export interface Sent {
  readonly session?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const as = (person: TestPerson, body?: unknown): Sent => ({ session: person.session, body });

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about.
  readonly body: any;
}

/** Under both names, for a service behind http or https (PUBLIC_URL); each reads its own. */
export const sessionCookie = (session: string): string =>
  `service_session=${session}; __Host-service_session=${session}`;

/**
 * Sends a request like a page of the service, or with a key like any program. The response must
 * match the OpenAPI document.
 */
export async function send(url: string, route: string, { session, key, body, headers }: Sent = {}): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      'Content-Type': 'application/json',
      ...(session !== undefined && { Cookie: sessionCookie(session), Origin: url }),
      ...(key !== undefined && { 'X-API-Key': key }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  expectDocumented(route, { status: response.status, contentType, text, headers: response.headers });
  return { status: response.status, body: contentType?.startsWith('application/json') ? JSON.parse(text) : text };
}
