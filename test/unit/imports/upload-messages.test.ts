// Lines that an upload answers: an error names neither folders nor addresses of the installation.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findInput } from '../../../src/imports/input/input-files.js';
import { createTrackClient } from '../../../src/imports/track-client.js';
import { toErrorLine } from '../../../src/imports/upload/messages.js';
import { takePort } from '../../support/take-port.js';

const folder = mkdtempSync(join(tmpdir(), 'upload-messages-'));
afterAll(() => rmSync(folder, { recursive: true }));

const errorOf = (failing: Promise<unknown>, url = 'http://127.0.0.1:8080'): Promise<string> =>
  failing.then(
    () => 'none',
    (cause: unknown) => toErrorLine(cause, { folder, url }).error,
  );

test('an error of a damaged archive has the name of the file, without its folder', async () => {
  const path = join(folder, 'export.zip');
  writeFileSync(path, 'PK\u0003\u0004'.padEnd(100, 'x'));
  expect(await errorOf(findInput([path], { stdin: process.stdin }))).toBe(
    'export.zip is a zip archive without a directory: its end is missing',
  );
});

test('a service that takes no events has no address', async () => {
  const url = `http://127.0.0.1:${await takePort()}`;
  const send = createTrackClient({ url, key: 'sk_test', userAgent: 'test', wait: async () => undefined });
  expect(await errorOf(send('{"events":[]}'), url)).toBe('the service does not take events: connect ECONNREFUSED');
});
