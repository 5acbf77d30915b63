// Source `umami`: rows of website_event, as CSV with a header or in a dump of PostgreSQL.

import { readCsv } from '../../input/csv.js';
import type { InputFile } from '../../input/input-files.js';
import { readLines } from '../../input/line-reader.js';
import { defineSource, type ReadRecord } from '../../source.js';
import type { JsonObject } from '../../values.js';
import { createMapper } from './map.js';

export const umami = defineSource<JsonObject>({
  name: 'umami',
  about: 'CSV of website_event with a header, or a dump of PostgreSQL (.sql)',
  read: (file) => (/\.sql(?:\.gz)?$/.test(file.name) ? readDump(file) : readCsv(file)),
  createMapper,
});

const COPY = /^COPY (?:\w+\.)?"?(\w+)"? \((.*)\) FROM stdin;$/;

/** The rows of website_event in a plain dump by pg_dump. Other tables are passed over. */
async function* readDump(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  let columns: readonly string[] | undefined;
  for await (const { text, number: line } of readLines(file.open(), { lineBytesMax: 1024 * 1024 })) {
    const copy = COPY.exec(text);
    if (copy !== null && copy[1] === 'website_event') {
      columns = copy[2]?.split(', ').map((name) => name.replaceAll('"', ''));
    } else if (text === '\\.') {
      columns = undefined;
    } else if (columns !== undefined) {
      const values = text.split('\t');
      yield values.length === columns.length
        ? { line, value: Object.fromEntries(columns.map((name, index) => [name, unescapeValue(values[index] ?? '')])) }
        : { line, problem: `not a row of ${columns.length} columns` };
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Null as empty text, which the columns of CSV have for it. */
const unescapeValue = (text: string): string =>
  text === '\\N' ? '' : text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
