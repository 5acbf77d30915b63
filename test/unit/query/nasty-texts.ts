// Texts that are slow to parse: 16 KiB of one repeated element, most of it invalid.
import { QUERY_BYTES_MAX } from '../../../src/query/limits.js';

/** `part` as often as it fits between the two ends. */
const filled = (head: string, part: string, tail = ''): string =>
  head + part.repeat(Math.floor((QUERY_BYTES_MAX - head.length - tail.length) / Buffer.byteLength(part))) + tail;

const numbered = (head: string, item: (index: number) => string, separator: string): string => {
  let text = head + item(0);
  for (let index = 1; text.length < QUERY_BYTES_MAX - 40; index++) text += separator + item(index);
  return text;
};

export const NASTY_TEXTS: Readonly<Record<string, string>> = {
  // Nesting.
  parentheses: filled('* | where ', '('),
  'parentheses alone': filled('', '('),
  brackets: filled('* | where a in ', '['),
  'brackets alone': filled('', '['),
  'closing parentheses': filled('* | where a = 1', ')'),
  'parentheses with conditions': filled('* | where ', '(_path = 1 and '),
  'parentheses of a formula': filled('formula ', '('),
  'calls in calls': filled('formula ', 'count('),
  'lists in lists': filled('* | where _path in ', '(1'),
  negations: filled('* | where ', 'not ', '_path = 1'),
  'unary minus': filled('formula ', '-', '1'),
  sums: filled('formula 1', '+1'),
  // Strings and comments.
  quotes: filled('* | where _path = ', '"'),
  'quotes that are escaped for the other quote': filled("* | where _path = '", '\\\'"'),
  'quotes that are escaped in a place for numbers': filled('* | limit "', "\\'", '"'),
  'an open string': filled('* | where _path = "', 'x'),
  backslashes: filled('* | where _path = "', '\\', '"'),
  hashes: filled('* | where a = 1 ', '#'),
  comments: filled('', '#\n'),
  // Signs and words at positions where they are invalid.
  pipes: filled('*', '|'),
  'pipes and blanks': filled('*', '| '),
  arrows: filled('funnel a', '->'),
  stars: filled('', '*'),
  'equals signs': filled('* | where ', '= '),
  'signs of no language': filled('', '{}%;'),
  'control characters': filled('', '\u0001'),
  emoji: filled('', '😀'),
  numbers: filled('', '1 '),
  durations: filled('', '7d '),
  'words and pipes': filled('', 'a | '),
  strings: filled('', '"a" '),
  conjunctions: filled('* | where _path = 1', ' or and'),
  'operators without fields': filled('* | where ', 'exists '),
  'a bit of everything': filled('* | where ', 'a in ( b or not ( " | '),
  'signs in an order of chance': Array.from({ length: QUERY_BYTES_MAX }, (_, index) =>
    String.fromCharCode(33 + ((index * 7919 + ((index * index) % 97)) % 94)),
  ).join(''),
  // Stages, and names that are looked up.
  stages: filled('*', ' | count'),
  'unknown stages': filled('*', ' | cuont'),
  'stages without anything': filled('*', ' | last'),
  'groups of one name': filled('* | count by ', 'a,', 'a'),
  'unknown groups': numbered('* | count by ', (index) => `_contr${index}`, ','),
  'unknown fields': numbered('* | where ', (index) => `_contr${index} = 1`, ' or '),
  'unknown columns': numbered('* | count | sort ', (index) => `coun${index}`, ','),
  properties: numbered('* | count by ', (index) => `event_properties.w${index}`, ','),
  'properties of profiles': numbered('users | count by ', (index) => `w${index}`, ','),
  'properties in a list': numbered('* | list ', (index) => `event_properties.w${index}`, ','),
  'conditions of a choice': numbered('choice k | where ', (index) => `w${index}=1`, ' or '),
  steps: filled('funnel a', ' -> b'),
  excluded: numbered('funnel a -> b exclude ', (index) => `w${index}`, ','),
  calls: numbered('formula ', (index) => `count(w${index})`, '+'),
  'a long word': 'a'.repeat(QUERY_BYTES_MAX),
  'fields in lists of values': filled('* | where _path in (', '_country,', 'a)'),
  'numbers that are too large': filled('* | where _path in (', '1e999,', '1)'),
  'times in a zone': numbered('* | where time in (', (index) => `2${String(index).padStart(3, '0')}-01-01`, ','),
  'times in conditions': numbered('* | where ', (index) => `time > 20${10 + (index % 90)}-01-01`, ' or '),
  // Regular expressions.
  'regular expressions': filled('* | where _path ~ "a"', ' or _path ~ "a"'),
  'groups in a pattern': filled('* | where _path ~ "', '(a', '"'),
  'classes in a pattern': filled('* | where _path ~ "', '\\pL', '"'),
  'classes in brackets': filled('* | where _path ~ "[', '\\pL\\PL', ']"'),
  'open brackets in a pattern': filled('* | where _path ~ "', '[[:', '"'),
  'repetitions in a pattern': filled('* | where _path ~ "', 'a{999}', '"'),
  'repetitions of repetitions': '* | where _path ~ "(((((a{9}){9}){9}){9}){9})"',
  'patterns at their limit': `* | where ${Array.from({ length: 16 }, () => '_path ~ "(?i)[\\\\pL](ab|cd|é){20}.{9}"').join(' or ')}`,
};
