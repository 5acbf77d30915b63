// Comments are blanks: a query means the same with one in the place of each blank.
import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { readDocumentedQueries } from '../../golden/documentation.js';
import { CONTEXT } from './compiling.js';

/** Looks like a part of a query. */
const COMMENT = ` # it's "not) | count\n`;
const QUOTED = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?:\s|#[^\n]*)+/gs;

const withComments = (text: string): string =>
  text.trim().replace(QUOTED, (_, quoted: string | undefined) => quoted ?? COMMENT);

function meaningOf(text: string) {
  const { statement, columns, range } = compile(text, CONTEXT);
  return { statement, columns, range };
}

describe('a comment in the place of each blank changes nothing', () => {
  test.each([
    ...readDocumentedQueries(),
    '* | where _country = "DE" and ( _path = "/" or _path = "/x" ) | where not ( _path = "/y" )',
    '* | where event_properties.n > - 5 or _path not starts with "/x" | last 7 days',
    'formula - count(a) * ( 1 + count("b  c") ) | compare 2 weeks',
  ])('%s', (query) => expect(meaningOf(withComments(query))).toEqual(meaningOf(query)));
});

test('steps and columns are named without comments', () => {
  const { metadata } = compile("funnel (a, # it's paid\n b) -> c[d  = 1 # one\n]", CONTEXT);
  expect(metadata?.funnel_steps).toEqual(['(a, b)', 'c[d = 1 ]']);
  const { columns } = compile('formula count("a  b") + # both\n 1, count("a b")', CONTEXT);
  expect(columns.map(({ name }) => name)).toEqual(['count("a  b") + 1', 'count("a b")']);
});
