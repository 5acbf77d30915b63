// The table of the language agrees with the grammar: every name in it parses to the node it names.
import { expect, test } from 'vitest';
import { parser } from '../../../grammar/parser.js';
import { STAGES } from '../../../src/query/language.js';
import { SOURCES } from '../../../src/query/sources/index.js';

/** Names of the nodes below the top. */
function nodesOf(text: string): string[] {
  const names: string[] = [];
  for (let node = parser.parse(text).topNode.firstChild; node; node = node.nextSibling) names.push(node.name);
  return names;
}

test.each(Object.values(SOURCES))(
  'the example of a source parses to its node: $example',
  ({ node, example, words }) => {
    expect(nodesOf(example)).toContain(node);
    for (const word of words) expect(example.split(' ')[0]).toBe(word);
  },
);

test.each(Object.values(STAGES))('the example of a stage parses to its node: $example', ({ node, example, words }) => {
  const rest = example.split(' ').slice(1).join(' ');
  for (const word of words) expect(nodesOf(`* | ${word} ${rest}`)).toContain(node);
});
