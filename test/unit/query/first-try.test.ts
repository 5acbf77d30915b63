// Queries as people first write them (first-try.txt): most compile to the intended query, or get
// fixes that make it, and none compiles to another query without a warning.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { CONTEXT, repaired } from './compiling.js';

interface Question {
  readonly written: string;
  readonly meant: string;
}

const questions = readFileSync(join(packageRoot, 'test', 'unit', 'query', 'first-try.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line): Question => {
    const at = line.lastIndexOf(' => ');
    return { written: line.slice(0, at), meant: line.slice(at + 4) };
  });

/** The statement and warnings of a text; undefined when it is no query. */
function answerOf(text: string): { readonly statement: unknown; readonly warnings: readonly string[] } | undefined {
  try {
    const { statement, warnings } = compile(text, CONTEXT);
    return { statement, warnings };
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

function isRight({ written, meant }: Question): boolean {
  const answer = answerOf(written) ?? answerOf(repaired(written));
  return answer !== undefined && JSON.stringify(answer.statement) === JSON.stringify(answerOf(meant)?.statement);
}

test.each(questions)('is the intended query, fixed, or refused: $written', (question) => {
  const { written, meant } = question;
  if (meant.startsWith('? ')) return expect(answerOf(written)).toBeDefined();
  if (meant === '-') return expect(answerOf(written) ?? answerOf(repaired(written))).toBeUndefined();
  const answer = answerOf(written);
  // A query with another meaning has a warning.
  if (answer) return expect(isRight(question) || answer.warnings.length > 0).toBe(true);
  if (answerOf(repaired(written))) expect(isRight(question)).toBe(true);
});

test('more than 90 % compile to the intended query at once or after the fixes', () => {
  expect(questions).toHaveLength(113);
  const right = questions.filter(isRight);
  expect(right.length / questions.length).toBeGreaterThan(0.9);
});
