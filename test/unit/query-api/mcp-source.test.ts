// The document of a dashboard as agents read it: what a save stores unchanged, what becomes
// visible, and a long one in parts.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { escapeHidden } from '../../../src/query-api/mcp/cut-answer.js';
import { cutSource } from '../../../src/query-api/mcp/cut-source.js';
import { diffTask } from '../../../src/query-api/mcp/diff-task.js';

/** The fenced part, as a model would save it. */
const savedFrom = (text: string): string => /^(`{3,})yaml\n([\s\S]*)\n\1$/m.exec(text)?.[2] ?? '';

const WHOLE = { offset: 0, lengthMax: 24_000 };

const JOINED = 'می\u200cخواهم \u2764\ufe0f \u{1f469}\u200d\u{1f680} क्\u200dष';

test('joiners and emojis in plain, quoted and block texts are the same after a save', () => {
  const source = `title: ${JOINED}\r\nquoted: '${JOINED}'\nblock: |\n  ${JOINED}\n\tx\n`;
  expect(savedFrom(cutSource(source, WHOLE))).toBe(source);
  expect(diffTask.run({ before: '', after: source })).toContain(`+ title: ${JOINED}\r\n`);
});

test.each(['\u202e', '\u{e0041}', '\u200b', 'a\u200d', '\u0008', '\u0085', '\ufeff'])('%j is shown', (hidden) => {
  const text = cutSource(`title: x${hidden} y\n`, WHOLE);
  expect(text).not.toContain(hidden);
  expect(text).toMatch(/^Invisible characters are shown as escapes, such as \\u202e;/);
  expect(parse(`"${escapeHidden(hidden)}"`)).toBe(hidden);
});

test('a document that fits is shown without a remark', () => {
  expect(cutSource('title: x\n', WHOLE)).toBe('```yaml\ntitle: x\n\n```');
});

test('a long document is read in parts, each of whole lines in a closed fence', () => {
  const lines = Array.from({ length: 1_100 }, (_, index) => `- line ${index} ${'x'.repeat(index % 70)}\n`);
  const source = lines.join('');
  let read = '';
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const text = cutSource(source, { offset, lengthMax: 24_000 });
    expect(text.length).toBeLessThanOrEqual(24_000);
    const [, from, to, next]: (string | undefined)[] =
      /^lines (\d+)–(\d+) of 1100(?:, next offset (\d+))?; do not save a part\n/.exec(text) ?? [];
    expect(Number(from)).toBe(offset + 1);
    expect(savedFrom(text)).toBe(lines.slice(offset, Number(to)).join(''));
    read += savedFrom(text);
    offset = next === undefined ? undefined : Number(next);
  }
  expect(read).toBe(source);
  expect(cutSource(source, { offset: 1_100, lengthMax: 24_000 })).toBe('no lines at offset 1100 of 1100');
});

test.each(['x', '`'])('a line of nothing but %s that is longer than an answer is cut, and said to be', (character) => {
  const text = cutSource(`a: 1\n${character.repeat(30_000)}\nb: 2\n`, { offset: 1, lengthMax: 24_000 });
  expect(text.length).toBeLessThanOrEqual(24_000);
  expect(text).toMatch(/^lines 2–2 of 3, next offset 2; do not save a part\nline 2 has 30001 characters and is cut;/);
  expect(savedFrom(text).length).toBeGreaterThan(5_000);
});
