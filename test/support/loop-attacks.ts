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

const cards = (count: number, query: string): string => {
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
  message('a long address', `"uri":"${'a'.repeat(AGENT_BYTES)}"`, 200, 'resources/read'),
  message('a long query', `"name":"check","arguments":{"q":"${filled('| ', AGENT_BYTES)}"}`, 200),
  saved('a dashboard of which every line is another', manyLines(7)),
  saved('a dashboard of empty lines', cards(1, 'signup | count') + '\n'.repeat(60_000)),
];
