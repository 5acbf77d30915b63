// Reader of CSV with a header, in constant memory. A record that does not fit the header is named
// by its line.
import { pipeline, Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import type { ReadRecord } from '../source.js';
import type { InputFile } from './input-files.js';

/** A quote that is never closed would otherwise take the rest of the file. */
const RECORD_CHARACTERS_MAX = 1024 * 1024;

export type CsvRow = Readonly<Record<string, string>>;

interface ParsedRow {
  readonly record: CsvRow;
  readonly info: { readonly lines: number };
}

/** Rows by the names of the header. The line is that of the row's end. */
export async function* readCsv(file: InputFile): AsyncGenerator<ReadRecord<CsvRow>, void, undefined> {
  const skipped: ReadRecord<CsvRow>[] = [];
  const parser = parse({
    columns: true,
    bom: true,
    info: true,
    relax_quotes: true,
    max_record_size: RECORD_CHARACTERS_MAX,
    skip_records_with_error: true,
    on_skip: (error: CsvError | undefined) => {
      skipped.push({ line: Number(error?.lines ?? 0), problem: `not CSV: ${toProblem(error)}` });
      return undefined;
    },
  });
  // Errors propagate to the reader of the last stream; the callback has nothing to add.
  const rows = pipeline(Readable.from(file.open(), { objectMode: false }), parser, () => undefined);
  for await (const { record, info } of rows as AsyncIterable<ParsedRow>) {
    yield* skipped.splice(0);
    yield { line: info.lines, value: record };
  }
  yield* skipped.splice(0);
}

/** Without the place in the message, so that equal problems are counted together. */
function toProblem(error: CsvError | undefined): string {
  switch (error?.code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
      return 'another number of columns than the header';
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_MAX_RECORD_SIZE':
      return 'a quote is not closed';
    default:
      return error?.code ?? 'unknown';
  }
}
