// Text of an answer for an agent whose fields beside the rows are longer than the text may be.
import { expect, test } from 'vitest';
import { cutAnswer } from '../../../src/query-api/mcp/cut-answer.js';
import { anAnswer } from './answers.js';

const LENGTH_MAX = 2_000;
const list = (length: number): object[] => Array.from({ length }, (_, index) => ({ variant_key: `v${index}` }));

const cutJson = (extraFields: Readonly<Record<string, unknown>>) => {
  const answer = anAnswer({ extraFields });
  const { text, shown } = cutAnswer(answer, { form: 'json', lengthMax: LENGTH_MAX, offset: 0 });
  expect(text.length).toBeLessThanOrEqual(LENGTH_MAX);
  return { shown, json: JSON.parse(text.slice('```json\n'.length, -'\n```'.length)) };
};

test('fields that leave no room for a row are left out, the longest first, and named', () => {
  const packet = { choice_key: 'k', comparisons: list(300), variants: list(200), warnings: ['too many variants'] };
  const { shown, json } = cutJson(packet);
  expect([shown, json.rows.length]).toEqual([2, 2]);
  expect(json).toMatchObject({ choice_key: 'k', warnings: ['too many variants'] });
  expect(json.left_out).toEqual(['comparisons', 'variants']);
  expect(Object.keys(json)).not.toContain('variants');
});

test('fields that fit stay', () => {
  const { json } = cutJson({ choice_key: 'k', variants: list(3) });
  expect(json.variants).toEqual(list(3));
  expect(Object.keys(json)).not.toContain('left_out');
});
