// Requests that are cheap to send and expensive to parse, by route.

export interface LoopAttack {
  readonly what: string;
  readonly body: Buffer;
  /** Expected status; undefined where it depends on the load. */
  readonly status: number | readonly number[];
}

const MEBIBYTE = 1024 * 1024;
const filled = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
const numbered = (count: number, toText: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => toText(index)).join(',');
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

// Of a document: its JSON text is longer, because line breaks and quotes are escaped.
const DOCUMENT_BYTES = 60_000;

const sync = (what: string, yaml: string, status = 400): LoopAttack => ({
  what,
  body: Buffer.from(JSON.stringify({ source_yaml: yaml })),
  status,
});

/** A document with so many cards. */
export const cards = (count: number, query: string): string => {
  const lines = Array.from({ length: count }, (_, index) => {
    const section = index % 100 === 0 ? '- title: S\n  cards:\n' : '';
    return `${section}  - {id: c${index}, title: T, kind: metric, viz: number, query: ${query}}\n`;
  });
  return `version: 1\ntitle: t\nsections:\n${lines.join('')}`;
};

const levels = (line: string): string => Array.from({ length: 340 }, (_, depth) => ' '.repeat(depth) + line).join('\n');

export const SYNC_ATTACKS: readonly LoopAttack[] = [
  ...['[', ']', '{', '}', '"', '- ', '? ', 'a: [\n', '&a ', '*a, ', '!a ', '- a\n', '\n', '[a]: '].map((piece) =>
    sync(`${JSON.stringify(piece)} again and again`, filled(piece, DOCUMENT_BYTES)),
  ),
  sync('maps in maps', levels('a:')),
  sync('aliases of one anchor', `[&a b,${filled('*a,', DOCUMENT_BYTES)}]`),
  sync('tags', `[${filled('!!a b,', DOCUMENT_BYTES)}]`),
  sync('comments', filled('#\n', DOCUMENT_BYTES)),
  sync('one long text', `title: ${'a'.repeat(DOCUMENT_BYTES)}`),
  sync('escapes that are none', `title: "${filled('\\q', DOCUMENT_BYTES)}"`),
  sync('700 cards', cards(700, 'signup | count')),
  sync('200 cards that are right', cards(200, 'signup | count'), 200),
  sync('200 cards that are wrong', cards(200, '"| | | | | | | |"')),
  sync('queries of 16 KiB', cards(3, `"${filled('| ', 16_000)}"`)),
  { what: '380 KiB of a JSON body', body: Buffer.from('['.repeat(380 * 1024)), status: 400 },
];

const QUERY_BYTES = 16 * 1024;

const question = (what: string, q: string): LoopAttack => ({
  what,
  body: Buffer.from(JSON.stringify({ q: q.slice(0, QUERY_BYTES) })),
  status: 400,
});

export const QUERY_ATTACKS: readonly LoopAttack[] = [
  ...['|', '(', ')', '[', '1 ', 'a ', '"', 'where not ', 'é'].map((piece) =>
    question(`${JSON.stringify(piece)} again and again`, filled(piece, QUERY_BYTES)),
  ),
  question('conditions on fields that are not there', `signup | where ${filled('_contry = 1 and ', QUERY_BYTES)}`),
  question('groups without end', `signup | count by ${filled('a,', QUERY_BYTES)}`),
  question('blanks in a habit of another language', `signup | timechart${' '.repeat(1900)}|`),
  question('one text many times in a query with a mistake', `signup | where ${'"a" '.repeat(480)}`),
  question('parentheses in parentheses', `signup | where ${'('.repeat(QUERY_BYTES)}`),
  question('stages without end', `signup${filled(' | top 5', QUERY_BYTES)}`),
  { what: '128 KiB of a JSON body', body: Buffer.from(filled('{"a":', 127 * 1024)), status: 400 },
];

const event = (properties: string): string => `{"event_type":"a","event_properties":{${properties}}}`;
const batch = (count: number, toProperties: (index: number) => string): string =>
  `{"events":[${numbered(count, (index) => event(toProperties(index)))}]}`;
const key = (index: number): string => `"${index.toString(36)}"`;

const tracked = (what: string, body: string, status = 200): LoopAttack => ({ what, body: Buffer.from(body), status });

export const TRACK_ATTACKS: readonly LoopAttack[] = [
  tracked('a value nested a million deep', event(`"a":${nested(MEBIBYTE)}`)),
  tracked('half a million keys', event(numbered(450_000, (index) => `${key(index)}:1`))),
  tracked(
    'half a million keys beside the event',
    `{"event_type":"a",${numbered(450_000, (index) => `${key(index)}:1`)}}`,
  ),
  tracked(
    '2,000 events of 250 properties each',
    batch(2000, (of) => numbered(250, (index) => `${key(of * 250 + index)}:1`)),
  ),
  tracked(
    '2,000 events full of escapes',
    batch(2000, (of) => numbered(120, (index) => `${key(of * 120 + index)}:"\\ud800"`)),
  ),
  tracked(
    '2,000 events of lists in lists',
    batch(2000, () => `"a":${nested(499)},"b":${nested(499)}`),
  ),
  tracked('a list of numbers', event(`"a":[${filled('1.5e300,', 5_000_000)}1]`)),
  tracked('events that are none', `{"events":[${filled('{},', 5_000_000)}0]}`, 400),
];

const identified = (what: string, fields: string, status = 400): LoopAttack => ({
  what,
  body: Buffer.from(`{"user_id":"u",${fields}}`),
  status,
});

export const IDENTIFY_ATTACKS: readonly LoopAttack[] = [
  identified('half a million properties', `"user_properties":{${numbered(450_000, (index) => `${key(index)}:1`)}}`),
  identified('a property nested a million deep', `"user_properties":{"a":${nested(MEBIBYTE)}}`),
  identified('half a million keys to remove', `"user_property_ops":{"$unset":[${numbered(450_000, key)}]}`),
];

const traits = (count: number): string => numbered(count, (index) => `${key(index)}:1`);
const segment = (what: string, calls: string, status = 200): LoopAttack => ({
  what,
  body: Buffer.from(`{"batch":[${calls}]}`),
  status,
});
const identifies = (count: number, each: string): string =>
  numbered(count, (index) => `{"type":"identify","userId":"u${index}","traits":{${each}}}`);

/** Bodies of POST /v1/batch, the protocol of Segment. */
export const SEGMENT_ATTACKS: readonly LoopAttack[] = [
  segment('2,000 calls of identify', identifies(2000, traits(1))),
  segment('2,000 calls of identify with 200 traits each', identifies(2000, traits(200))),
  segment('50,000 calls of identify', identifies(50_000, traits(1)), 413),
  segment('100,000 traits', identifies(1, traits(100_000))),
  segment('a trait nested a quarter of a million deep', identifies(1, `"a":${nested(MEBIBYTE / 4)}`)),
  segment('calls that are none', `${filled('{},', MEBIBYTE)}0`, 413),
];

const message = (what: string, params: string, status: LoopAttack['status'], method = 'tools/call'): LoopAttack => ({
  what,
  body: Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}}}`),
  status,
});

const AGENT_BYTES = 512 * 1024 - 1024;
const KEYS = numbered(60_000, (index) => `${key(index)}:1`);
/** As many as a message may have. */
const ALLOWED_KEYS = numbered(950, (index) => `${key(index)}:1`);

const saved = (what: string, yaml: string): LoopAttack =>
  message(
    what,
    `"name":"save_dashboard","arguments":{"key":"lines","dry_run":true,"source_yaml":${JSON.stringify(yaml)}}`,
    200,
  );

/** A document of as many lines as fit, most of which differ from those with another `step`. */
export const manyLines = (step: number): string =>
  `${cards(1, 'signup | count')}${Array.from({ length: 1700 }, (_, index) => `# ${'a'.repeat(28)}${index * step}\n`).join('')}`;

/** Messages to POST /mcp. The dashboard `lines` is `manyLines(1)`. */
export const AGENT_ATTACKS: readonly LoopAttack[] = [
  message('60,000 keys of a message', `"name":"check",${KEYS}`, 400),
  message('60,000 keys beside the arguments of a tool', `"name":"check","_meta":{${KEYS}}`, 400),
  message('60,000 invalid arguments of a prompt', `"name":"ask","arguments":{${KEYS}}`, 400, 'prompts/get'),
  message('a list of 250,000 lists', `"name":"check","arguments":{"q":[${filled('[],', AGENT_BYTES)}[]]}`, 400),
  message('lists in lists', `"name":"check","arguments":{"q":${nested(AGENT_BYTES / 2)}}`, 400),
  message('1,900 keys and values beside the arguments', `"name":"check","_meta":{${ALLOWED_KEYS}}`, 200),
  message('1,900 invalid arguments of a prompt', `"name":"ask","arguments":{${ALLOWED_KEYS}}`, 200, 'prompts/get'),
  message('a long address', `"uri":"analytics://${'é'.repeat(AGENT_BYTES / 2)}"`, 400, 'resources/read'),
  message('a long name of a tool', `"name":"${'a'.repeat(AGENT_BYTES)}","arguments":{}`, 400),
  message('a long query', `"name":"check","arguments":{"q":"${filled('| ', AGENT_BYTES)}"}`, 200),
  saved('a dashboard of which every line is another', manyLines(7)),
  saved('a dashboard of empty lines', cards(1, 'signup | count') + '\n'.repeat(60_000)),
];

const DEFINITION_LENGTH = 4096;
const listOf = (start: string, toItem: (index: number) => string): string => {
  const items: string[] = [];
  for (let length = start.length + 1; ; ) {
    const item = toItem(items.length);
    length += item.length + 1;
    if (length > DEFINITION_LENGTH) return `${start}${items.join(',')})`;
    items.push(item);
  }
};
const defined = (name: string, query: string): string => `  ${name}: { query: ${JSON.stringify(query)} }\n`;
const longName = (index: number): string => 'n'.repeat(58) + (1000 + index);

/** Definitions that are valid, and as long as they may be. */
export const HOSTILE_DEFINITIONS = `version: 1
events:
${defined('names', `(${Array.from({ length: 99 }, (_, index) => `e${index}`).join(', ')})`)}${defined(
  'values',
  `${listOf('a[plan in (', (index) => `"${index}"`)}]`,
)}cohorts:
${defined(
  'values',
  listOf('* | where user.plan in (', (index) => `"${index}"`),
)}${defined('conditions', `* | where ${Array.from({ length: 60 }, (_, index) => `user.k${index % 30} > ${index}`).join(' or ')}`)}${defined(
  'nested',
  `* | where ${Array(3).fill('cohort.values = true').join(' or ')}`,
)}${Array.from({ length: 190 }, (_, index) => defined(longName(index), '* | where user.a = 1')).join('')}`;

const asked = (what: string, q: string, status = 400): LoopAttack => ({
  what,
  body: Buffer.from(JSON.stringify({ q })),
  status,
});
const repeated = (count: number, piece: string, between: string): string => Array(count).fill(piece).join(between);

/** Queries of a project with HOSTILE_DEFINITIONS. All are short. */
export const DEFINITION_ATTACKS: readonly LoopAttack[] = [
  asked('an event of 99 events, 250 times', `(${repeated(250, 'names', ',')}) | count`),
  asked('an event with a thousand values, 250 times', `(${repeated(250, 'values', ',')}) | count`),
  asked('it in the steps of a funnel', `funnel ${repeated(10, 'values', ' -> ')}`),
  asked('it in a query with a mistake', `(values, values, values) | cuont by _contry`),
  asked('a cohort with a thousand values, 80 times', `* | where ${repeated(80, 'cohort.values = true', ' or ')}`),
  asked('a cohort with 60 conditions, 60 times', `* | where ${repeated(60, 'cohort.conditions = true', ' and ')}`),
  asked('cohorts in a cohort', '* | where cohort.nested = true | count', 200),
  asked(
    'unknown names that are like others',
    `* | where ${Array.from({ length: 25 }, (_, index) => `cohort.${'m'.repeat(19)}${'n'.repeat(40)}${index} = true`).join(' or ')}`,
  ),
  asked('one unknown name, 100 times', `* | where ${repeated(100, 'cohort.q = true', ' or ')}`),
];

const fullOf = (count: number, toQuery: (index: number) => string): string =>
  `version: 1\nevents:\n${Array.from({ length: count }, (_, index) => defined(`d${index}`, toQuery(index))).join('')}`;

/** Bodies of PUT /api/definitions. */
export const DEFINITIONS_ATTACKS: readonly LoopAttack[] = [
  sync('the hostile definitions', HOSTILE_DEFINITIONS, 200),
  sync(
    '14 definitions of 4,096 characters',
    fullOf(14, () => `${listOf('a[plan in (', (index) => `${index}`)}]`),
    200,
  ),
  sync(
    '200 definitions that use each other',
    fullOf(200, (index) => (index % 4 === 0 ? 'a' : `d${index - 1}[plan = "x"]`)),
    200,
  ),
  sync(
    'a definition that uses itself in 199 others',
    fullOf(200, (index) => `(${repeated(40, `d${(index + 1) % 200}`, ',')})`),
  ),
  sync(
    'definitions of parentheses',
    fullOf(14, () => '('.repeat(4000)),
  ),
  sync('lists in lists', filled('[', DOCUMENT_BYTES)),
];
