// Reader of CSV with a header, in constant memory. A record that does not fit the header is named
// by its line, and a file without a header is refused: its first row would be lost as one.
import { pipeline, Readable, type TransformCallback } from 'node:stream';
import { type CsvError, Parser } from 'csv-parse';
import { setOwnProperty } from '../../platform/own-property.js';
import type { ReadRecord } from '../source.js';
import { peek } from './decode.js';
import type { InputFile } from './input-files.js';
import { CARRIAGE_RETURN, NEWLINE } from './line-reader.js';

/** A quote that is never closed would otherwise take the rest of the file. */
const RECORD_CHARACTERS_MAX = 1024 * 1024;

const OTHER_COLUMNS = 'another number of columns than the header';

export type CsvRow = Readonly<Record<string, string>>;

export interface CsvForm {
  /** Names of which a header has at least one, after `toName`. */
  readonly columns: readonly string[];
  readonly toName?: (name: string) => string;
}

/**
 * Rows by the names of the header, as `toName` changes them. The line is that of the row's end.
 * Rejects when the first line has none of the `columns`, and when the file ends within a row.
 */
export async function* readCsv(
  file: InputFile,
  { columns, toName = (name) => name }: CsvForm,
): AsyncGenerator<ReadRecord<CsvRow>, void, undefined> {
  const { first, all } = await peek(file.open());
  const parser = new RowParser(toName, findDelimiter(first));
  // Errors propagate to the reader of the last stream; the callback has nothing to add.
  const lists = pipeline(Readable.from(all, { objectMode: false }), parser, () => undefined);
  for await (const rows of lists as AsyncIterable<readonly ReadRecord<CsvRow>[]>) {
    checkHeader(parser.header, columns);
    yield* rows;
  }
  checkHeader(parser.header, columns);
  if (parser.cut !== undefined) throw new Error(parser.cut);
}

function checkHeader(header: readonly string[] | undefined, columns: readonly string[]): void {
  if (header === undefined || columns.some((name) => header.includes(name))) return;
  throw new Error(
    `line 1 is not the header, which has ${columns.join(' or ')}: add the line with the names of the columns`,
  );
}

/** The comma, unless the header has none: spreadsheets and clients of MySQL write others. */
function findDelimiter(first: Buffer): string {
  const [header = ''] = first.toString('utf8').split(/[\r\n]/, 1);
  return [',', ';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ',';
}

/**
 * Reads the rows of each chunk as one list. The parser's own objects and places of rows take nearly
 * as long as parsing.
 */
class RowParser extends Parser {
  /** Undefined before the first row. */
  header: readonly string[] | undefined;
  /** Where and how the file ends within a row; defined at the end. */
  cut: string | undefined;
  readonly #toName: (name: string) => string;
  #rows: ReadRecord<CsvRow>[] = [];
  /** Of the last row. */
  #line = 0;
  /** Whether the last row has too few columns, which is a problem unless the file is cut there. */
  #isShort = false;
  #lastByte: number | undefined;

  constructor(toName: (name: string) => string, delimiter: string) {
    super({
      delimiter,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: RECORD_CHARACTERS_MAX,
      skip_records_with_error: true,
    });
    this.#toName = toName;
    this.on('skip', (error: CsvError) => this.#skip(error));
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, callback: TransformCallback): void {
    this.#lastByte = chunk.at(-1) ?? this.#lastByte;
    super._transform(chunk, encoding, (error) => {
      this.#give();
      callback(error);
    });
  }

  /** Called by the parser with a row, or with null at the end. */
  override push(values: readonly string[] | null): boolean {
    if (values !== null) {
      this.#add(values, this.info.lines);
      return true;
    }
    const isTerminated = this.#lastByte === NEWLINE || this.#lastByte === CARRIAGE_RETURN;
    if (this.#isShort && !isTerminated) {
      this.cut = `line ${this.#line} is not complete: it has fewer columns than the header`;
    } else {
      this.#nameShort();
    }
    this.#give();
    return super.push(null);
  }

  #add(values: readonly string[], line: number): void {
    this.#nameShort();
    this.#line = line;
    if (this.header === undefined) {
      this.header = values.map(this.#toName);
    } else if (values.length < this.header.length) {
      this.#isShort = true;
    } else if (values.length > this.header.length) {
      this.#addProblem(OTHER_COLUMNS, line);
    } else {
      this.#rows.push({ line, value: toRow(this.header, values) });
    }
  }

  #nameShort(): void {
    if (this.#isShort) this.#addProblem(OTHER_COLUMNS, this.#line);
    this.#isShort = false;
  }

  #skip({ code, lines = 0 }: CsvError): void {
    this.#nameShort();
    if (code === 'CSV_QUOTE_NOT_CLOSED') {
      this.cut = `the row after line ${this.#line} is not complete: a quote is not closed`;
      return;
    }
    this.#line = Number(lines);
    this.#addProblem(code === 'CSV_MAX_RECORD_SIZE' ? 'a quote is not closed' : code, this.#line);
  }

  /** Without the place in the message, so that equal problems are counted together. */
  #addProblem(problem: string, line: number): void {
    this.#rows.push({ line, problem: `not CSV: ${problem}` });
  }

  #give(): void {
    if (this.#rows.length === 0) return;
    super.push(this.#rows);
    this.#rows = [];
  }
}

/** MySQL, Snowflake and ClickHouse write one of these for no value. An id of it would be shared. */
const NO_VALUE: ReadonlySet<string | undefined> = new Set(['NULL', '\\N']);

function toRow(header: readonly string[], values: readonly string[]): CsvRow {
  const row: Record<string, string> = {};
  for (let at = 0; at < header.length; at += 1) {
    setOwnProperty(row, header[at] as string, NO_VALUE.has(values[at]) ? '' : values[at]);
  }
  return row;
}
