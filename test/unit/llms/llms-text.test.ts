// /llms.txt, which language models read without other context: short, complete and correct.
import { describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../../src/llms/examples.js';
import { toLlmsText } from '../../../src/llms/llms-text.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';
import { EVENT_FIELD_NAMES } from '../../../src/query/fields.js';
import { STAGE_NAMES } from '../../../src/query/language.js';
import { SESSION_KEYS } from '../../../src/query/session-fields.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';
import { countTokens } from '../../support/count-tokens.js';

const METRIC = { kind: 'metric', name: 'NAME', query: 'formula count(a) / count(b)', line: 1 } as const;
const CONTEXT = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'UTC',
  limit: 100,
  offset: 0,
  definitions: [METRIC],
};
const text = toLlmsText();

test('/llms.txt has at most 9,000 characters and 3,500 tokens', () => {
  expect(text.length).toBeLessThanOrEqual(9_000);
  expect(countTokens(text)).toBeLessThan(3_500);
});

test('/llms.txt has no links to files of docs/, which the service does not serve', () => {
  expect(text.match(/\]\((?!https?:)[^)]*\)/g)).toBeNull();
});

test('/llms.txt has 20 examples', () => {
  expect(EXAMPLES).toHaveLength(20);
});

const [, language = ''] = text.split('## Queries');
const inCode = [...language.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('examples of /llms.txt', () => {
  test.each(EXAMPLES)('compile (%s): %s', (_, query) => {
    expect(compile(query, CONTEXT).columns).not.toEqual([]);
  });
});

/** Compiles the forms of /llms.txt, with names instead of the words in capitals. */
describe('forms in /llms.txt', () => {
  const section = (name: string) =>
    [...(language.split(`${name}:\n`)[1]?.split('\n\n')[0] ?? '').matchAll(/^- `([^`]+)`/gm)].map(
      ([, form = '']) => form,
    );
  const filled = (form: string) =>
    form
      .replaceAll('FIELD', '_path')
      .replace('CONDITION', '_path = "/"')
      .replace('COLUMN', 'count')
      .replace('KEY', 'checkout');

  test.each(section('Sources'))('source compiles: %s', (form) => {
    expect(() => compile(filled(form), CONTEXT)).not.toThrow();
  });

  test.each(section('Stages'))('stage compiles: %s', (form) => {
    const sources = [
      '*',
      '* | count by _path',
      '* | count by day',
      '* | count',
      'funnel a -> b',
      'paths from a',
      'retention a',
      'choice a',
      'choice a | results b',
      'choice a | unit user_id | results b',
      'choice a | results sum(b, c)',
    ];
    const compiles = sources.filter((source) => {
      try {
        compile(`${source} | ${filled(form)}`, CONTEXT);
        return true;
      } catch {
        return false;
      }
    });
    expect(compiles).not.toEqual([]);
  });
});

test('/llms.txt names every stage, field and session key', () => {
  const words = new Set(text.match(/[A-Za-z_][A-Za-z0-9_]*/g));
  expect([...STAGE_NAMES, ...EVENT_FIELD_NAMES, ...SESSION_KEYS].filter((name) => !words.has(name))).toEqual([]);
  expect(inCode.length).toBeGreaterThan(60);
});
