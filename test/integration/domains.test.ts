// Domains over HTTP with a real DNS server: claiming, verification, listing and removal, and who
// may join.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, as, createTeam, type Sent, send, type TestTeam } from '../support/accounts.js';
import { startDns, type TestDns } from '../support/dns-server.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;
const NO_ONE = '00000000-0000-7000-8000-000000000000';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let dns: TestDns;

beforeAll(async () => {
  dns = await startDns();
  databases = await createTestDatabases({ DNS_SERVERS: dns.address });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
  dns?.close();
});

const ask = (route: string, sent?: Sent): Promise<Answer> => send(processes.url, route, sent);

describe('domain routes', () => {
  const claim = async (domain: unknown, team?: TestTeam) => {
    const { organization, people } = team ?? (await createTeam(postgres));
    const answer = await ask(`POST /api/orgs/${organization.id}/domains`, as(people.owner, { domain }));
    const verify = () => ask(`POST /api/orgs/${organization.id}/domains/${answer.body.id}/verify`, as(people.owner));
    return { answer, verify };
  };

  test('POST …/verify checks the TXT record, and one organization only can verify a domain', async () => {
    const { answer, verify } = await claim(' Acme.Example. ');
    const domain = answer.body;
    expect(answer).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(UUID_V7),
        domain: 'acme.example',
        token: expect.any(String),
        record_name: '_service-verify.acme.example',
        record_value: `service-verification=${domain.token}`,
        verified_at: null,
        record_seen_at: null,
        admits_until: null,
      },
    });
    expect(await verify()).toMatchObject({ status: 400, body: { error: expect.stringContaining('there is none') } });
    dns.records.set(domain.record_name, ['something else', `${domain.record_value}x`]);
    expect(await verify()).toMatchObject({ status: 400, body: { error: expect.stringContaining('none of them') } });
    dns.records.set(domain.record_name, ['something else', domain.record_value]);
    const verified = { verified_at: expect.any(String), record_seen_at: expect.any(String) };
    const { status, body } = await verify();
    expect([status, body]).toEqual([200, { ...domain, ...verified, admits_until: expect.any(String) }]);
    expect(Date.parse(body.admits_until) - Date.parse(body.record_seen_at)).toBe(7 * 24 * 60 * 60_000);

    const second = await claim('acme.example');
    dns.records.set(domain.record_name, [domain.record_value, second.answer.body.record_value]);
    expect(await second.verify()).toEqual({
      status: 400,
      body: { error: 'acme.example has been verified by another organization' },
    });
  });

  test('a second claim of the same organization returns the same token', async () => {
    const team = await createTeam(postgres);
    const first = await claim('again.example', team);
    expect((await claim('again.example', team)).answer.body).toEqual(first.answer.body);
  });

  test('DELETE releases a domain, which another organization can then verify', async () => {
    const team = await createTeam(postgres);
    const path = `/api/orgs/${team.organization.id}/domains`;
    const { answer, verify } = await claim('moving.example', team);
    const open = (await claim('b.moving.example', team)).answer.body;
    dns.records.set(answer.body.record_name, [answer.body.record_value]);
    const verified = (await verify()).body;
    expect(await ask(`GET ${path}`, as(team.people.owner))).toEqual({ status: 200, body: [open, verified] });
    expect(await ask(`DELETE ${path}/${verified.id}`, as(team.people.owner))).toEqual({
      status: 200,
      body: { status: 'removed', id: verified.id },
    });
    expect((await ask(`GET ${path}`, as(team.people.owner))).body).toEqual([open]);
    const next = await claim('moving.example');
    dns.records.set(verified.record_name, [next.answer.body.record_value]);
    expect((await next.verify()).status).toBe(200);
  });

  test('DELETE answers 404 to a domain of another organization and to a missing one', async () => {
    const [team, { answer }] = [await createTeam(postgres), await claim('foreign.example')];
    for (const id of [answer.body.id, NO_ONE, 'no-uuid']) {
      const route = `DELETE /api/orgs/${team.organization.id}/domains/${id}`;
      expect(await ask(route, as(team.people.owner))).toEqual({
        status: 404,
        body: { error: 'there is no such domain' },
      });
    }
    expect(await postgres('domains').where({ id: answer.body.id })).toHaveLength(1);
  });

  test('POST …/verify answers 503 when the name server does not respond', async () => {
    const { verify } = await claim('silent.example');
    dns.mode = 'silent';
    expect((await verify()).status).toBe(503);
    dns.mode = 'works';
  }, 30_000);

  test.each([
    undefined,
    7,
    '',
    'localhost',
    'a..b',
    '-a.example',
    'http://a.example',
    'a.example/x',
    `${'x'.repeat(64)}.example`,
  ])('POST answers 400 to the domain %j', async (domain) => {
    expect((await claim(domain)).answer).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^domain /) },
    });
  });
});
