// Source `umami`: rows of website_event and of event_data, as CSV with a header or in a dump of
// PostgreSQL.
import type { JsonObject } from '../../../platform/json-object.js';
import { type CsvForm, readCsv } from '../../input/csv.js';
import type { InputFile } from '../../input/input-files.js';
import { readLines } from '../../input/line-reader.js';
import { splitTabs } from '../../input/tab-separated.js';
import { defineSource, type ReadRecord } from '../../source.js';
import { isEventData, prepareJoin } from './event-data.js';
import { createMapper } from './map.js';

type Records = AsyncGenerator<ReadRecord<JsonObject>, void, undefined>;

export const umami = defineSource<JsonObject>({
  name: 'umami',
  about: 'CSV of website_event and event_data with headers, or a dump of PostgreSQL (.sql)',
  read: readTables,
  prepare: (files) => prepareJoin(files, { readTable: readTables, readData }),
  createMapper,
});

const isDump = ({ name }: InputFile): boolean => /\.sql(?:\.gz)?$/.test(name);

const TABLES: ReadonlySet<string> = new Set(['website_event', 'event_data']);
const DATA: ReadonlySet<string> = new Set(['event_data']);
const CSV: CsvForm = { columns: ['event_id', 'website_event_id', 'created_at'] };

function readTables(file: InputFile): Records {
  return isDump(file) ? readDump(file, TABLES) : readCsv(file, CSV);
}

async function* readData(file: InputFile): Records {
  if (isDump(file)) {
    yield* readDump(file, DATA);
    return;
  }
  for await (const record of readCsv(file, CSV)) {
    // A file of CSV has one table.
    if ('value' in record && !isEventData(record.value)) return;
    yield record;
  }
}

const COPY = /^COPY (?:\w+\.)?"?(\w+)"? \((.*)\) FROM stdin;$/;
const INSERT = /^INSERT INTO (?:\w+\.)?["`]?(\w+)["`]? /;

/**
 * The rows of these tables in a plain dump by pg_dump. Other tables are passed over. Rejects when
 * the dump ends within one of these.
 */
async function* readDump(file: InputFile, tables: ReadonlySet<string>): Records {
  let columns: readonly string[] | undefined;
  for await (const { text, number: line } of readLines(file.open(), { lineBytesMax: 1024 * 1024 })) {
    const copy = COPY.exec(text);
    if (copy !== null && tables.has(copy[1] ?? '')) {
      columns = copy[2]?.split(', ').map((name) => name.replaceAll('"', ''));
    } else if (text === '\\.') {
      columns = undefined;
    } else if (columns === undefined && tables.has(INSERT.exec(text)?.[1] ?? '')) {
      yield { line, problem: 'rows as INSERT are not read: use pg_dump without --inserts, or export CSV' };
    } else if (columns !== undefined) {
      const values = splitTabs(text);
      yield values.length === columns.length
        ? { line, value: Object.fromEntries(columns.map((name, index) => [name, unescapeValue(values[index] ?? '')])) }
        : { line, problem: `not a row of ${columns.length} columns` };
    }
  }
  if (columns !== undefined) throw new Error('the dump ends within a table');
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Null as empty text, which the columns of CSV have for it. */
const unescapeValue = (text: string): string =>
  text === '\\N' ? '' : text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
