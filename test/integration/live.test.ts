// Live feed as server-sent events: content, access, limit of open streams, and one shared query for
// all viewers of a project.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LiveFeeds, type Message } from '../../src/live/feed.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { identify } from '../support/identify.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases({ LIVE_VIEWS_OPEN_MAX: '8' });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['web', 'query', 'worker']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

interface Stream {
  readonly status: number;
  /** What has been received. */
  text(): string;
  close(): void;
}

async function watch(projectId: string, session: string): Promise<Stream> {
  const gone = new AbortController();
  const response = await fetch(`${processes.url}/api/projects/${projectId}/live`, {
    headers: { Cookie: `service_session=${session}` },
    signal: gone.signal,
  });
  let received = '';
  void (async () => {
    for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
  })().catch(() => {});
  return { status: response.status, text: () => received, close: () => gone.abort() };
}

test('HEAD of the feed answers at once', async () => {
  const { organization, people } = await createTeam(postgres);
  const { id } = await createTeamProject(postgres, databases, organization.id, 'A');
  const response = await fetch(`${processes.url}/api/projects/${id}/live`, {
    method: 'HEAD',
    headers: { Cookie: `service_session=${people.member.session}` },
    signal: AbortSignal.timeout(10_000),
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
});

test('GET /live sends accepted and rejected events of its project only', async () => {
  const { organization, people } = await createTeam(postgres);
  const [own, other] = [
    await createTeamProject(postgres, databases, organization.id, 'A'),
    await createTeamProject(postgres, databases, organization.id, 'B'),
  ];
  const stream = await watch(own.id, people.member.session);
  expect(stream.status).toBe(200);
  await eventually(() => expect(stream.text()).toContain('event: events\ndata: []'));
  await track(processes.url, other.publicKey, { event_type: 'foreign', user_id: 'x' });
  await track(processes.url, own.publicKey, { events: [{ event_type: 'mine', user_id: 'x' }, { user_id: 'y' }] });
  await eventually(() => expect(stream.text()).toContain('"event_type":"mine"'));
  await eventually(() => expect(stream.text()).toMatch(/event: rejected\ndata: .*event_type/));
  expect(stream.text()).not.toContain('foreign');
  // An event is sent once, and a later viewer gets the known events at once.
  expect(stream.text().split('"mine"').length).toBe(2);
  const second = await watch(own.id, people.member.session);
  await eventually(() => expect(second.text()).toContain('"mine"'), 2000);

  // A quarter of the places is for one project.
  expect((await watch(own.id, people.member.session)).status).toBe(429);
  stream.close();
  second.close();
  await eventually(async () => {
    const again = await watch(own.id, people.member.session);
    again.close();
    expect(again.status).toBe(200);
  });
});

test('an event is sent once, also when its device is mapped to a user afterwards', async () => {
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id, 'D');
  const stream = await watch(project.id, people.member.session);
  await track(processes.url, project.publicKey, { event_type: 'anonymous', device_id: 'd-1' });
  await eventually(() => expect(stream.text()).toContain('"event_type":"anonymous"'));
  await identify(processes.url, project.publicKey, { user_id: 'ann', device_id: 'd-1' });
  // A later viewer reads what the feed knows by now.
  await eventually(async () => {
    const later = await watch(project.id, people.member.session);
    await eventually(() => expect(later.text()).toContain('"distinct_id":"ann"'), 2000).finally(later.close);
  });
  stream.close();
  expect(stream.text().split('"anonymous"')).toHaveLength(2);
});

test('a client that leaves before it is answered takes no place', async () => {
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id, 'C');
  const { hostname, port } = new URL(processes.url);
  const leaveEarly = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const path = `/api/projects/${project.id}/live`;
        const cookie = `service_session=${people.member.session}`;
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`, () => socket.destroy());
      });
      socket.once('close', () => resolve());
    });
  for (let client = 0; client < 20; client += 1) await leaveEarly();
  const stream = await eventually(async () => {
    const opened = await watch(project.id, people.member.session);
    expect(opened.status).toBe(200);
    return opened;
  });
  stream.close();
});

test('LiveFeeds queries once for all viewers of a project and stops after the last has left', async () => {
  let asked = 0;
  const feeds = new LiveFeeds({
    readEvents: async () => {
      asked += 1;
      return [{ insert_id: String(asked) }];
    },
    readRejected: async () => [],
    warn: () => {},
  });
  const watcher = { projectId: toProjectId('p'), personId: 'ann' };
  const received: Message[][] = [[], []];
  const stops = received.map((messages) => feeds.watch(watcher, (message) => messages.push(message)));
  await eventually(() => expect(asked).toBe(2));
  expect(received[0]?.filter(({ kind }) => kind === 'events').at(-1)).toEqual(received[1]?.at(-1));
  for (const stop of stops) stop();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(asked).toBe(2);
});
