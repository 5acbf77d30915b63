// What a tenant may send that is cheap to send and dear to read: by the route it goes to.

export interface LoopAttack {
  readonly what: string;
  readonly body: Buffer;
  /** What it is answered; undefined where that depends on how busy the service is. */
  readonly status: number | readonly number[];
}

const filled = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));

// Of a document: a JSON text with line breaks and quotes in it is longer than what it says.
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
