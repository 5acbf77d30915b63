// PUT /api/dashboard-sync: credentials, versions, concurrent syncs, and problems with their
// positions.
import { describe, expect, test } from 'vitest';
import { newKey } from '../../src/access/keys.js';
import {
  adminKey,
  ann,
  bob,
  newProject,
  postgres,
  project,
  read,
  server,
  serviceToken,
  startDashboards,
  stranger,
  sync,
  token,
  yaml,
} from '../support/dashboards.js';

startDashboards();

describe('credentials of dashboard sync', () => {
  test.each<[string, () => Promise<string | undefined>, number]>([
    ['no key', async () => undefined, 401],
    ['an unknown key', async () => newKey('secret'), 401],
    ['a public key', async () => project.publicKey, 403],
    ['an admin key', async () => adminKey, 403],
    ['a token without the scope', () => token('service', ann.id, ['query']), 403],
    ['a personal token of someone who left', async () => stranger.token, 401],
    ['a secret key', async () => project.secretKey, 201],
    ['a service token with the scope', async () => serviceToken, 201],
    ['a personal token with the scope', async () => ann.token, 201],
  ])('%s', async (_, key, status) => {
    const answered = await sync(await key(), yaml('Sales'));
    expect(answered.status).toBe(status);
    if (status !== 201) expect(answered.body).toEqual({ error: expect.any(String) });
  });
});

describe('PUT /api/dashboard-sync', () => {
  test('stores a version only when the content changes', async () => {
    const first = await sync(project.secretKey, yaml('Sales'));
    expect(first).toEqual({
      status: 201,
      body: {
        dashboard: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          key: 'sales',
          title: 'Sales',
          visibility: 'project',
          checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
          version: 1,
        },
        changed: true,
        metadata_changed: false,
      },
    });
    const again = await sync(project.secretKey, `# a comment\n${yaml('"Sales"')}`);
    expect(again).toEqual({ status: 200, body: { ...first.body, changed: false } });

    const changed = await sync(project.secretKey, yaml('Revenue'));
    expect(changed.body).toMatchObject({
      dashboard: { version: 2, title: 'Revenue' },
      changed: true,
      metadata_changed: false,
    });
    const back = await sync(project.secretKey, yaml('Sales'));
    expect(back.body).toMatchObject({
      dashboard: { version: 3, checksum: first.body.dashboard.checksum },
      changed: true,
    });
    expect(back.body.dashboard.id).toBe(first.body.dashboard.id);
    const versions = await postgres('dashboard_versions')
      .where({ dashboard_id: first.body.dashboard.id })
      .orderBy('version')
      .select('version', 'source_yaml');
    expect(versions.map((row) => [row.version, row.source_yaml])).toEqual([
      [1, yaml('Sales')],
      [2, yaml('Revenue')],
      [3, yaml('Sales')],
    ]);
  });

  test('keeps the newest 100 versions', async () => {
    const { body } = await sync(project.secretKey, yaml('T1'));
    await postgres('dashboards').where({ id: body.dashboard.id }).update({ version: 100 });
    await postgres('dashboard_versions').where({ dashboard_id: body.dashboard.id }).update({ version: 2 });
    await sync(project.secretKey, yaml('T101'));
    const kept = async () =>
      await postgres('dashboard_versions')
        .where({ dashboard_id: body.dashboard.id })
        .orderBy('version')
        .pluck('version');
    expect(await kept()).toEqual([2, 101]);
    await sync(project.secretKey, yaml('T102'));
    expect(await kept()).toEqual([101, 102]);
  });

  test('stores every version of concurrent requests, each with its own number', async () => {
    const titles = Array.from({ length: 12 }, (_, index) => `T${index}`);
    const answers = await Promise.all(titles.map((title) => sync(project.secretKey, yaml(title))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(answers.map(({ body }) => body.dashboard.version).sort((a, b) => a - b)).toEqual(
      titles.map((_, index) => index + 1),
    );
    expect(new Set(answers.map(({ body }) => body.dashboard.id)).size).toBe(1);
    expect(
      await postgres('dashboard_versions').where({ dashboard_id: answers[0]?.body.dashboard.id }).pluck('version'),
    ).toHaveLength(12);
  });

  test('stores equal content of concurrent requests once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => sync(project.secretKey, yaml('Sales'))));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect(answers.every(({ body }) => body.dashboard.version === 1)).toBe(true);
  });

  test('changes only the project of its credential', async () => {
    await sync(project.secretKey, yaml('Sales'));
    const other = await newProject();
    expect((await sync(other.secretKey, yaml('Theirs'))).status).toBe(201);
    expect((await read(bob)).body).toMatchObject([{ title: 'Sales' }]);
    expect((await read(bob, '', other.id)).body).toMatchObject([{ title: 'Theirs' }]);
  });

  test.each<[string, string, { key?: string; visibility?: string }, string]>([
    ['a document with mistakes', 'version: 1\ntilte: T\nsections: []\n', {}, 'problems'],
    ['an unknown visibility', yaml('T'), { visibility: 'public' }, 'visibility is one of personal, project'],
    ['a personal dashboard of a key', yaml('T'), { visibility: 'personal' }, 'belongs to no person'],
    ['a key in upper case', yaml('T'), { key: 'Sales' }, 'kebab-case'],
    ['a key that is too long', yaml('T'), { key: 'a'.repeat(64) }, 'at most 63'],
  ])('answers 400 to %s', async (_, source, fields, message) => {
    const answered = await sync(project.secretKey, source, fields);
    expect(answered).toMatchObject({ status: 400, body: { error: expect.stringContaining(message) } });
    expect((await read(bob)).body).toEqual([]);
  });

  test('reports every problem with path, line, column and hint', async () => {
    const answered = await sync(
      project.secretKey,
      yaml('T').replace('title: S', 'titel: S').replace('| count', '| cuont'),
    );
    expect(answered.body.details).toEqual([
      { message: '"title" is missing', path: 'sections[0].title', line: 4, column: 3, hint: 'it is text' },
      {
        message: 'unknown key "titel"',
        path: 'sections[0].titel',
        line: 4,
        column: 3,
        hint: 'nearest is "title"',
        fix: { line: 4, column: 3, length: 5, text: 'title' },
      },
      {
        message: 'unknown stage "cuont"',
        path: 'sections[0].cards[0].query',
        line: 6,
        column: 66,
        hint: 'nearest is "count"',
        fix: { line: 6, column: 66, length: 5, text: 'count' },
      },
    ]);
  });

  test('answers 413 above 64 KiB', async () => {
    expect((await sync(project.secretKey, `${yaml('T')}# ${'x'.repeat(64 * 1024)}`)).status).toBe(413);
    expect((await sync(project.secretKey, 'x'.repeat(10_000_000))).status).toBe(413);
  });

  test.each([
    ['no JSON', '{"source_yaml": '],
    ['no object', '[]'],
    ['no source', '{}'],
    ['a source that is not a text', '{"source_yaml": 5}'],
  ])('answers 400 to a body with %s', async (_, body) => {
    const url = `http://127.0.0.1:${server.port}/api/dashboard-sync/sales`;
    const response = await fetch(url, { method: 'PUT', headers: { 'x-api-key': project.secretKey }, body });
    expect(response.status).toBe(400);
  });
});
