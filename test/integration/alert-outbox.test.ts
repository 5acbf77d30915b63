// The outbox of alerts and reports on real stores, without workers: a message that is being sent
// while a person is erased, and the order in which owners are served.
import { UnrecoverableError, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { up as deleteLeftAlerts } from '../../ops/postgres/0027_alerts_of_deleted_projects.js';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { checkDueAlerts } from '../../src/alerts/check-due.js';
import { claimDueAlert } from '../../src/alerts/check-store.js';
import { type Claim, claimSecondsOf, postpone } from '../../src/alerts/claims.js';
import * as store from '../../src/alerts/delivery-store.js';
import { OwnerTurns } from '../../src/alerts/owner-turns.js';
import type { RunAlertQuery } from '../../src/alerts/run-query.js';
import { type SendDeps, sendDueMessages } from '../../src/alerts/send-due.js';
import { createUnsubscribeLinks } from '../../src/alerts/unsubscribe.js';
import { createWebhookSecrets } from '../../src/alerts/webhook-secret.js';
import {
  createMailQueue,
  enqueueOutboxMail,
  forgetRowsOfMails,
  MAIL_QUEUE,
  type MailJob,
  type MailQueue,
  mailJobId,
  removeMailsOf,
  tryReadContent,
} from '../../src/mail/queue.js';
import { newUuidV7, type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { deleteProjectRows } from '../../src/privacy/project-store.js';
import { claimDueReport } from '../../src/reports/report-store.js';
import { signIn } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let mails: MailQueue;
let receiver: WebhookReceiver;
let projectId: ProjectId;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  mails = createMailQueue(redis);
  receiver = await startWebhookReceiver();
});

beforeEach(async () => {
  projectId = await newProject();
});

afterEach(async () => {
  await postgres('alerts').delete();
  await mails.obliterate({ force: true });
});

afterAll(async () => {
  receiver?.close();
  await mails?.close();
  redis?.disconnect();
  await postgres?.destroy();
  await databases?.close();
});

async function newProject(ownerId?: string): Promise<ProjectId> {
  const owner = ownerId ?? (await signIn(postgres)).id;
  const organization = await createOrganization(postgres, { name: 'Team', ownerId: owner });
  const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
  const { id } = await createProject(postgres, { organizationId: organization.id, name: 'Shop', secretKeyBase });
  return toProjectId(id);
}

/** An alert or a report of the project, due in `dueIn`. */
async function addRow(kind: 'alert' | 'report', project: ProjectId, dueIn: string): Promise<string> {
  const id = newUuidV7();
  await postgres('alerts').insert({
    ...{ id, kind, project_id: project, key: id, position: 0, query: 'a | count', condition: 'value > 0' },
    ...{ every_seconds: 60, schedule: 'daily 08:00', targets: [] },
    next_due_at: postgres.raw('clock_timestamp() + ?::interval', [dueIn]),
  });
  return id;
}

type Told = Omit<Parameters<typeof store.addDeliveries>[1], 'message' | 'rows'>;

const tell = (of: Told): Promise<void> =>
  store.addDeliveries(postgres, {
    ...{ ...of, rows: [{ kind: 'secret', value: 3 }] },
    message: {
      ...{ alert: 'a', dashboard: null, title: 'Shop', query: 'a | count', condition: 'value > 0' },
      ...{ before: 'ok', state: 'firing', value: 3, error: null },
      ...{ at: new Date().toISOString(), url: 'https://analytics.example.com/' },
    },
  });

const addMessage = async (project: ProjectId, target: string): Promise<void> =>
  tell({ projectId: project, alertId: await addRow('alert', project, '1 hour'), transition: 1, targets: [target] });

function sendAll(changed: Partial<SendDeps> = {}): Promise<void> {
  const { SECRET_KEY_BASE } = databases.config;
  const deps: SendDeps = {
    ...{ postgres, takeMail: async () => undefined, log: createLogger({ process: 'test', level: 'silent' }) },
    secrets: createWebhookSecrets(postgres, SECRET_KEY_BASE),
    webhooks: {
      ...{ allowed: ['127.0.0.1'], timeoutMs: 1000, nowSeconds: () => 0 },
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    },
    unsubscribeLinks: createUnsubscribeLinks(SECRET_KEY_BASE, new URL('https://analytics.example.com')),
    sendMail: (mail) => enqueueOutboxMail(mails, mail, SECRET_KEY_BASE),
    ...changed,
  };
  return sendDueMessages(deps, new AbortController().signal);
}

const deliveries = () => postgres('alert_deliveries').where({ project_id: projectId });

async function queuedMail() {
  const [{ id }] = await deliveries();
  const job = await mails.getJob(mailJobId({ projectId, id }));
  return job && { job, text: tryReadContent(job.data, databases.config.SECRET_KEY_BASE)?.text };
}

test('a mail that a process has claimed is queued without the rows that an erasure removes', async () => {
  await addMessage(projectId, 'mailto:a@example.com');
  await sendAll({ takeMail: async () => void (await store.forgetRows(postgres, projectId)) });
  expect(await deliveries()).toMatchObject([{ status: 'sent', attempts: 1 }]);
  const mail = await queuedMail();
  expect(mail?.text).toContain('Firing: a (Shop)');
  expect(mail?.text).not.toContain('secret');
});

test('a webhook that a process has claimed is called without the rows that an erasure removes', async () => {
  await addMessage(projectId, `${receiver.url}/claimed`);
  const secrets = createWebhookSecrets(postgres, databases.config.SECRET_KEY_BASE);
  const require = async (id: ProjectId) => {
    await store.forgetRows(postgres, projectId);
    return secrets.require(id);
  };
  await sendAll({ secrets: { ...secrets, require } });
  expect(receiver.at('/claimed')).toHaveLength(1);
  expect(receiver.at('/claimed')[0]?.text).not.toContain('secret');
});

test('an erasure waits for a mail that is being queued, and then finds it in the queue', async () => {
  await addMessage(projectId, 'mailto:a@example.com');
  let forgotten: Promise<void> | undefined;
  await sendAll({
    sendMail: async (mail) => {
      forgotten = store.forgetRows(postgres, projectId).then(() => forgetRowsOfMails(mails, projectId));
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      await enqueueOutboxMail(mails, mail, databases.config.SECRET_KEY_BASE);
    },
  });
  await forgotten;
  expect((await queuedMail())?.text).not.toContain('secret');
});

async function waitingForLocks(): Promise<number> {
  const { rows } = await postgres.raw(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

test('content with half of a character is stored: a text that was cut, or a title that was written so', async () => {
  const alertId = await addRow('report', projectId, '1 hour');
  const message = {
    ...{ report: 'monday', dashboard: 'sales', title: 'Sales \ud83d', schedule: 'daily 08:00', timezone: 'UTC' },
    ...{ at: new Date().toISOString(), url: 'https://analytics.example.com/' },
  };
  const rows = [{ title: 'Texts', error: 'cut in the middle of \ud83d' }];
  await store.addDeliveries(postgres, {
    projectId,
    alertId,
    transition: 1,
    targets: ['mailto:a@example.com'],
    message,
    rows,
  });
  expect(await deliveries()).toMatchObject([
    { message: { title: 'Sales \ufffd' }, rows: [{ error: 'cut in the middle of \ufffd' }] },
  ]);
});

test('messages to a target that hangs come after those to others', async () => {
  const hanging = await startWebhookReceiver();
  hanging.delayMs = 60_000;
  for (let n = 0; n < 8; n += 1) await addMessage(projectId, `${hanging.url}/hang`);
  await addMessage(projectId, `${receiver.url}/${projectId}`);
  const sending = sendAll();
  await eventually(() => expect(receiver.at(`/${projectId}`)).toHaveLength(1));
  // Two before anything was known of the target, and those beside the other message.
  expect(hanging.hooks.length).toBeLessThanOrEqual(4);
  await sending;
  hanging.close();
});

test('a message waits for an earlier one of its alert to the same target, and not for those to others', async () => {
  const [slow, quick] = ['https://slow.example.com/', 'https://quick.example.com/'];
  const alertId = await addRow('alert', projectId, '1 hour');
  await tell({ projectId, alertId, transition: 1, targets: [slow] });
  await tell({ projectId, alertId, transition: 2, targets: [slow, quick] });
  const turns = new OwnerTurns();
  const claimed = [await store.claimDelivery(postgres, turns), await store.claimDelivery(postgres, turns)];
  expect(claimed.map((delivery) => delivery?.target).sort()).toEqual([quick, slow]);
  const waiting = await deliveries().whereNull('claim_id').select('transition', 'target');
  expect(waiting).toEqual([{ transition: 2, target: slow }]);
});

test('a message that fails is tried again after growing pauses, for two days, and only its claim counts', async () => {
  await addMessage(projectId, 'https://hooks.example.com/');
  const failure = { reason: 'down', isFinal: false };
  const claim = async () => {
    await deliveries().update({ next_attempt_at: new Date(0) });
    return (await store.claimDelivery(postgres, new OwnerTurns())) as store.ClaimedDelivery;
  };
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await store.markFailed(postgres, await claim(), failure);
    const { s } = await deliveries().first(postgres.raw('extract(epoch FROM next_attempt_at - now())::float8 AS s'));
    pauses.push(Math.round(s / 10));
  }
  expect(pauses).toEqual([1, 3, 9]);
  const claimed = await claim();
  await store.markFailed(postgres, { ...claimed, claimId: newUuidV7() }, { ...failure, isFinal: true });
  await deliveries().update({ created_at: postgres.raw(`now() - interval '47 hours'`) });
  await store.markFailed(postgres, claimed, failure);
  expect(await deliveries()).toMatchObject([{ status: 'waiting', attempts: 4, rows: [{}] }]);
  await deliveries().update({ created_at: postgres.raw(`now() - interval '49 hours'`) });
  await store.markFailed(postgres, await claim(), failure);
  expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 5, error: 'down', rows: null }]);
});

test('messages that have ended are forgotten after a hundred changes, and those that wait are not', async () => {
  const alertId = await addRow('alert', projectId, '0');
  const targets = ['https://hooks.example.com/'];
  for (const transition of [1, 2, 103]) await tell({ projectId, alertId, transition, targets });
  await deliveries().whereIn('transition', [2, 103]).update({ status: 'sent' });
  await postgres('alerts').where({ id: alertId }).update({ transitions: 200, failures: 2, targets });
  await checkAll(async () => ({ kind: 'failed', error: 'broken' }));
  expect(await deliveries().orderBy('transition').pluck('transition')).toEqual([1, 103, 201]);
});

test('a message of a deleted project is not sent', async () => {
  await addMessage(projectId, `${receiver.url}/deleted`);
  await postgres('projects').where({ id: projectId }).update({ deleted_at: new Date() });
  await sendAll();
  expect(receiver.at('/deleted')).toEqual([]);
});

test('the deletion of a project deletes its alerts and reports, also those of its definitions', async () => {
  const other = await newProject();
  for (const project of [projectId, other]) {
    await addRow('report', project, '1 hour');
    await addMessage(project, 'mailto:a@example.com');
  }
  await deleteProjectRows(postgres, projectId);
  expect(await postgres('alerts').select('project_id', 'kind').orderBy('kind')).toEqual([
    { project_id: other, kind: 'alert' },
    { project_id: other, kind: 'report' },
  ]);
  expect(await postgres('alert_deliveries').pluck('project_id')).toEqual([other]);
});

test('a migration deletes the alerts that earlier deletions of projects have left', async () => {
  const other = await newProject();
  for (const project of [projectId, other]) await addRow('alert', project, '1 hour');
  await postgres('projects').where({ id: projectId }).update({ deleted_at: new Date() });
  await deleteLeftAlerts(postgres);
  expect(await postgres('alerts').pluck('project_id')).toEqual([other]);
});

test('a mail of which the claim is over is not queued', async () => {
  await addMessage(projectId, 'mailto:a@example.com');
  await sendAll({ takeMail: async () => void (await deliveries().update({ claim_id: newUuidV7() })) });
  expect(await queuedMail()).toBeUndefined();
});

test('mails lose their rows when they have failed, and while they are being sent; deletion waits for those', async () => {
  for (const target of ['failed@example.com', 'active@example.com']) await addMessage(projectId, `mailto:${target}`);
  await sendAll();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const worker = new Worker<MailJob, void>(
    MAIL_QUEUE,
    async ({ data }) => {
      if (data.to.startsWith('active')) await ended;
      throw data.to.startsWith('active') ? new Error('try again') : new UnrecoverableError('no such mailbox');
    },
    { connection: redis.duplicate(), concurrency: 9 },
  );
  try {
    const counts = () => mails.getJobCounts('active', 'failed', 'delayed');
    await eventually(async () => expect(await counts()).toEqual({ active: 1, failed: 1, delayed: 0 }));
    await forgetRowsOfMails(mails, projectId);
    const jobs = await mails.getJobs(['active', 'failed']);
    const texts = jobs.map(({ data }) => tryReadContent(data, databases.config.SECRET_KEY_BASE)?.text);
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toContain('Firing: a (Shop)');
    for (const text of texts) expect(text).not.toContain('secret');
    expect(await removeMailsOf(mails, projectId)).toBe(2);
    expect(await removeMailsOf(mails, projectId)).toBe(1);
    end();
    await eventually(async () => expect(await removeMailsOf(mails, projectId)).toBe(0));
  } finally {
    await worker.close();
  }
});

const CLAIM_SECONDS = claimSecondsOf(0);

const checkAll = (runQuery: RunAlertQuery): Promise<void> => {
  const deps = {
    ...{ postgres, publicUrl: new URL('https://analytics.example.com'), claimSeconds: claimSecondsOf(600_000) },
    ...{ log: createLogger({ process: 'test', level: 'silent' }), runQuery },
  };
  return checkDueAlerts(deps, new AbortController().signal);
};

test('a check keeps its claim as long as the settings allow a query to take', async () => {
  const id = await addRow('alert', projectId, '0');
  const claimedByOthers: unknown[] = [];
  const runQuery: RunAlertQuery = async () => {
    // As if ten minutes had passed.
    await postgres('alerts').update({ claimed_until: postgres.raw(`claimed_until - interval '10 minutes'`) });
    claimedByOthers.push(await claimDueAlert(postgres, new OwnerTurns(), CLAIM_SECONDS));
    return { kind: 'failed', error: 'timed out' };
  };
  await checkAll(runQuery);
  expect(claimedByOthers).toEqual([undefined]);
  expect(await postgres('alert_checks').where({ alert_id: id }).pluck('error')).toEqual(['timed out']);
});

test('a check whose claim is over records nothing, and a deleted project is not checked', async () => {
  const id = await addRow('alert', projectId, '0');
  const checked: ProjectId[] = [];
  await checkAll(async (question) => {
    checked.push(question.projectId);
    // As another process does after the end of the claim.
    await postgres('alerts').where({ id }).update({ claim_id: newUuidV7() });
    return { kind: 'failed', error: 'too late' };
  });
  expect(checked).toEqual([projectId]);
  expect(await postgres('alert_checks').where({ alert_id: id })).toEqual([]);

  await postgres('alerts').where({ id }).update({ claimed_until: null });
  await postgres('projects').where({ id: projectId }).update({ deleted_at: new Date() });
  expect(await claimDueAlert(postgres, new OwnerTurns(), CLAIM_SECONDS)).toBeUndefined();
});

describe.each([
  {
    ...{ of: 'messages', perProject: 2, claim: store.claimDelivery, end: store.markSent },
    add: (project: ProjectId) => addMessage(project, 'https://hooks.example.com/'),
  },
  {
    ...{ of: 'checks', perProject: 2, claim: (...by: [Postgres, OwnerTurns]) => claimDueAlert(...by, CLAIM_SECONDS) },
    end: (_: Postgres, claim: Claim) => postpone(postgres, claim, 60),
    add: (project: ProjectId) => addRow('alert', project, '0'),
  },
  {
    ...{ of: 'reports', perProject: 1, claim: (...by: [Postgres, OwnerTurns]) => claimDueReport(...by, CLAIM_SECONDS) },
    end: (_: Postgres, claim: Claim) => postpone(postgres, claim, 60),
    add: (project: ProjectId) => addRow('report', project, '0'),
  },
])('due $of', ({ perProject, claim, add, end }) => {
  test('of another owner are next, however many projects one person has', async () => {
    const person = (await signIn(postgres)).id;
    const ofPerson = [await newProject(person), await newProject(person)];
    for (const project of [...ofPerson, ...ofPerson, ...ofPerson, projectId]) await add(project);
    const turns = new OwnerTurns();
    const claimed: ProjectId[] = [];
    for (let next = await claim(postgres, turns); next; next = await claim(postgres, turns)) {
      claimed.push(next.projectId);
    }
    for (const id of ofPerson) expect(claimed.filter((each) => each === id)).toHaveLength(perProject);
    expect(claimed.indexOf(projectId)).toBe(1);
  });

  test('of owners with equal claims take turns', async () => {
    const projects = [await newProject(), await newProject(), projectId];
    for (const project of projects) for (let row = 0; row < 2; row++) await add(project);
    const turns = new OwnerTurns();
    const claimed: ProjectId[] = [];
    for (let next = await claim(postgres, turns); next; next = await claim(postgres, turns)) {
      claimed.push(next.projectId);
      await end(postgres, next as never);
    }
    expect(claimed).toEqual([...projects, ...projects]);
  });
});
