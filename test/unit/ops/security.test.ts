// docs/SECURITY.md: each test that it names exists, by file and title. Also the list of files that
// connect to other servers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const named = [...read('docs/SECURITY.md').matchAll(/`(test\/[\w./-]+)`: ([^|;]+?)\s*(?=[|;])/g)].map(
  ([, file = '', title = '']) => [file, title] as const,
);

test('docs/SECURITY.md names more than 25 tests', () => expect(named.length).toBeGreaterThan(25));

test.each(named)('docs/SECURITY.md names an existing test: %s: %s', (file, title) => {
  expect(read(file)).toContain(title);
});

test('only these files connect to addresses that are not stores of the service: adding one requires that no user can choose it, or that private ones are refused', () => {
  const REACHES = /\bfetch\(|(?:from |import\()'(?:node:(?:https?|net|tls|dgram|dns[^']*)|nodemailer|grant)'/;
  const files = ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const own = files.filter((path) => path.endsWith('.ts') && !/^src\/(?:standalone|imports)\//.test(path));
  expect(own.filter((path) => REACHES.test(read(path).replaceAll(/^import type .*$/gm, ''))).sort()).toEqual([
    'src/accounts/txt-records.ts',
    'src/alerts/addresses.ts',
    'src/alerts/run-query.ts',
    'src/alerts/webhook.ts',
    'src/api/forward-queries.ts',
    'src/demo/call-service.ts',
    'src/live/read-events.ts',
    // To processes of the service, at SERVICE_URL and QUERY_URL.
    'src/operate/find-unready.ts',
    // Addresses of settings, for the doctor.
    'src/operate/outside-checks.ts',
    // To ClickHouse, at the address of the settings.
    'src/platform/clickhouse/small-read.ts',
    'src/platform/http/protocol-errors.ts',
    'src/platform/http/server.ts',
    // To Redis, at the address of the settings.
    'src/platform/redis/tls-mismatch.ts',
    'src/sign-in/idp-addresses.ts',
    'src/sign-in/idp-client.ts',
    'workers/send-mail.ts',
  ]);
});
