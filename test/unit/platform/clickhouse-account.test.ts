// The rights that the doctor asks for are those that the documents tell an operator to grant.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATABASE_RIGHTS, SYSTEM_TABLES, TABLE_ENGINES } from '../../../src/platform/clickhouse/account.js';
import { packageRoot } from '../../../src/platform/paths.js';

test('docs/operating.md grants what the doctor asks for', () => {
  const document = readFileSync(join(packageRoot, 'docs', 'operating.md'), 'utf8');
  const granted = document.split('\n').filter((line) => /^GRANT .* TO analytics;$/.test(line));
  expect(granted).toEqual([
    `GRANT ${DATABASE_RIGHTS.join(', ')} ON analytics.* TO analytics;`,
    ...SYSTEM_TABLES.map((table) => `GRANT SELECT ON system.${table} TO analytics;`),
    ...TABLE_ENGINES.map((engine) => `GRANT TABLE ENGINE ON ${engine} TO analytics;`),
  ]);
});
