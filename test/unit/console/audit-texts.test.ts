// The audit trail of the console says in words what each recorded action is.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditActions, auditOutcomes } from '../../../console/src/texts/audit.js';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join('src', path), 'utf8'))
  .filter((text) => text.includes('recordAudit('))
  .join('\n');

test('each action and outcome that the service records has words', () => {
  const actions = sources.matchAll(/(?:action: |recorder\(res, )'([a-z]+\.[a-z_]+)'/g);
  const outcomes = sources.matchAll(/outcome: '([a-z]+)'/g);
  expect(new Set([...actions].map(([, action]) => action))).toEqual(new Set(Object.keys(auditActions)));
  expect(Object.keys(auditOutcomes)).toEqual(expect.arrayContaining([...outcomes].map(([, outcome]) => outcome)));
});
