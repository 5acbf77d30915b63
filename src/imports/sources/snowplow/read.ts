// Source `snowplow`: enriched events as TSV without a header, or atomic.events as CSV with one.
import type { JsonObject } from '../../../platform/json-object.js';
import { type CsvForm, readCsv } from '../../input/csv.js';
import type { InputFile } from '../../input/input-files.js';
import { readLines } from '../../input/line-reader.js';
import { toCopy } from '../../input/tab-separated.js';
import { defineSource, type ReadRecord } from '../../source.js';
import { COLUMNS } from './columns.js';
import { createMapper } from './map.js';

const LINES = { lineBytesMax: 5 * 1024 * 1024 };

export const snowplow = defineSource<JsonObject>({
  name: 'snowplow',
  about: 'enriched events (TSV), or atomic.events as CSV with a header (.csv)',
  read: (file) => (/\.csv(?:\.gz)?$/.test(file.name) ? readCsv(file, CSV) : readEnriched(file)),
  createMapper,
});

/** Snowflake writes the names of columns in capitals. */
const CSV: CsvForm = {
  columns: ['event_id', 'derived_tstamp', 'collector_tstamp'],
  toName: (name) => name.toLowerCase(),
};

/** Rejects when the file ends within an event. */
async function* readEnriched(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  for await (const { text, number: line, isCut, isTerminated } of readLines(file.open(), LINES)) {
    if (text === '') continue;
    const values = text.split('\t');
    const isShort = values.length > 1 && values.length < COLUMNS.length;
    if (isShort && !isTerminated) throw new Error(`line ${line} is not complete`);
    if (isCut || values.length !== COLUMNS.length) {
      yield { line, problem: `not an enriched event of ${COLUMNS.length} fields` };
    } else if (values[0] !== COLUMNS[0]) {
      yield { line, value: toRow(values) };
    }
  }
}

const EVENT_ID = COLUMNS.indexOf('event_id');
/** Ids that an import keeps to its end. */
const KEPT: ReadonlySet<string> = new Set(['user_id', 'domain_userid', 'network_userid']);

/**
 * Without empty columns, which most are. A row without an event id keeps them, because its id is a
 * hash of all.
 */
function toRow(values: readonly string[]): JsonObject {
  const isWhole = values[EVENT_ID] === '';
  const row: Record<string, string> = {};
  COLUMNS.forEach((name, index) => {
    const value = values[index] ?? '';
    if (isWhole || value !== '') row[name] = KEPT.has(name) ? toCopy(value) : value;
  });
  return row;
}
