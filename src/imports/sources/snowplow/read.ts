// Source `snowplow`: enriched events as TSV without a header, or atomic.events as CSV with one.
import { readCsv } from '../../input/csv.js';
import type { InputFile } from '../../input/input-files.js';
import { readLines } from '../../input/line-reader.js';
import { splitTabs } from '../../input/tab-separated.js';
import { defineSource, type ReadRecord } from '../../source.js';
import type { JsonObject } from '../../values.js';
import { COLUMNS } from './columns.js';
import { createMapper } from './map.js';

const LINE_BYTES_MAX = 5 * 1024 * 1024;

export const snowplow = defineSource<JsonObject>({
  name: 'snowplow',
  about: 'enriched events (TSV), or atomic.events as CSV with a header (.csv)',
  read: (file) => (/\.csv(?:\.gz)?$/.test(file.name) ? readCsv(file) : readEnriched(file)),
  createMapper,
});

async function* readEnriched(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  for await (const { text, number: line, isCut } of readLines(file.open(), { lineBytesMax: LINE_BYTES_MAX })) {
    if (text === '') continue;
    const values = splitTabs(text);
    if (isCut || values.length !== COLUMNS.length) {
      yield { line, problem: `not an enriched event of ${COLUMNS.length} fields` };
    } else if (values[0] !== COLUMNS[0]) {
      yield { line, value: Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]])) };
    }
  }
}
