import { expect, test } from 'vitest';
import { createUnsubscribeLinks } from '../../../src/alerts/unsubscribe.js';
import { toProjectId } from '../../../src/platform/ids.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const publicUrl = new URL('https://analytics.example.com');
const links = createUnsubscribeLinks('a'.repeat(32), publicUrl);
const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

test('a link names its mailbox and project', () => {
  const url = links.toUrl({ projectId, address: 'bücher@example.com' });
  expect(url).toMatch(/^https:\/\/analytics\.example\.com\/unsubscribe\/[\w.-]+$/);
  expect(links.tryRead(tokenOf(url))).toEqual({ projectId, address: 'bücher@example.com' });
});

test('a token of another service, or with another mailbox or project, is not read', () => {
  const token = tokenOf(links.toUrl({ projectId, address: 'ann@example.com' }));
  const [project = '', address = '', signature = ''] = token.split('.');
  const other = tokenOf(links.toUrl({ projectId, address: 'bob@example.com' })).split('.')[1];
  const forged = createUnsubscribeLinks('b'.repeat(32), publicUrl);
  expect(forged.tryRead(token)).toBeUndefined();
  for (const changed of [
    `${project}.${other}.${signature}`,
    `${project.replace('1', '2')}.${address}.${signature}`,
    `${project}.${address}`,
    `${project}.${address}.`,
    '',
  ]) {
    expect(links.tryRead(changed)).toBeUndefined();
  }
});
