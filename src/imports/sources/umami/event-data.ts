// Joins Umami's event_data to the rows of website_event, in bounded memory: properties by event are
// sorted, on the disk when they are many; the rows of each file are then sorted, too, and merged.
import { type JsonObject, textOf } from '../../../platform/json-object.js';
import { FoldingSorter } from '../../folding-sorter.js';
import type { InputFile } from '../../input/input-files.js';
import type { Prepared, ReadRecord } from '../../source.js';
import { numberOf } from '../../values.js';

/** The property of a joined row, which no column of Umami has. */
export const EVENT_DATA = '$event_data';

/**
 * A row of event_data, whose event is `event_id` in ClickHouse; version 1 called the key
 * `event_key`.
 */
export const isEventData = (row: JsonObject): boolean =>
  ('website_event_id' in row || 'event_id' in row) && ('data_key' in row || 'event_key' in row);

type Reader = (file: InputFile) => AsyncIterable<ReadRecord<JsonObject>>;
/** Rows with their lines; an id may stand twice. */
type Rows = (readonly [line: number, row: JsonObject])[];

const ENTRY_BYTES = 50;

/**
 * `readTable` reads the rows of both tables, `readData` those of event_data alone and no more of a
 * file than is needed for them.
 */
export async function prepareJoin(
  files: readonly InputFile[],
  { readTable, readData }: { readonly readTable: Reader; readonly readData: Reader },
  runBytesMax?: number,
): Promise<Prepared<JsonObject>> {
  const data = new FoldingSorter<JsonObject>({ combine: (a, b) => ({ ...a, ...b }), sizeOf: bytesOf }, runBytesMax);
  try {
    for (const file of files) if (file.isOnce !== true) await addFile(data, readData(file));
  } catch (error) {
    await data.close();
    throw error;
  }
  return { read: (file) => readJoined(file, readTable, { data, runBytesMax }), close: () => data.close() };
}

/** What cannot be read is named when the file is read for its events. */
async function addFile(data: FoldingSorter<JsonObject>, records: AsyncIterable<ReadRecord<JsonObject>>): Promise<void> {
  const iterator = records[Symbol.asyncIterator]();
  for (;;) {
    const next = await iterator.next().catch(() => undefined);
    if (next === undefined || next.done === true) return;
    await addData(data, next.value);
  }
}

async function addData(data: FoldingSorter<JsonObject>, record: ReadRecord<JsonObject>): Promise<void> {
  if (!('value' in record)) return;
  const row = record.value;
  const event = textOf(row.website_event_id) ?? textOf(row.event_id);
  const key = textOf(row.data_key) ?? textOf(row.event_key);
  const value = toValue(row);
  if (event !== undefined && key !== undefined && value !== undefined) await data.add(event, { [key]: value });
}

const NUMBER = '2';
const BOOLEAN = '3';
const DATE = '4';

/** By `data_type`: 1 text, 2 number, 3 boolean, 4 date, 5 list, whose text is JSON. */
function toValue(row: JsonObject): unknown {
  const text = textOf(row.string_value);
  switch (String(row.data_type ?? row.event_data_type ?? '')) {
    case NUMBER:
      return numberOf(row.number_value) ?? numberOf(text) ?? text;
    case BOOLEAN:
      return text === 'true' ? true : text === 'false' ? false : text;
    case DATE:
      return textOf(row.date_value) ?? text;
    default:
      return text ?? numberOf(row.number_value) ?? textOf(row.date_value);
  }
}

async function* readJoined(
  file: InputFile,
  readTable: Reader,
  { data, runBytesMax }: { data: FoldingSorter<JsonObject>; runBytesMax: number | undefined },
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const { inMemory } = data;
  const rows = new FoldingSorter<Rows>({ combine: (a, b) => [...a, ...b], sizeOf: rowsBytes }, runBytesMax);
  try {
    for await (const record of readTable(file)) {
      if (!('value' in record)) yield record;
      else if (isEventData(record.value)) {
        if (file.isOnce === true)
          yield { line: record.line, problem: 'event_data needs a file: it is read before events' };
      } else {
        const event = textOf(record.value.event_id);
        if (inMemory !== undefined) yield joined(record.line, record.value, inMemory.get(event ?? ''));
        else if (event === undefined) yield record;
        else await rows.add(event, [[record.line, record.value]]);
      }
    }
    if (inMemory === undefined) yield* merge(rows, data);
  } finally {
    await rows.close();
  }
}

async function* merge(
  rows: FoldingSorter<Rows>,
  data: FoldingSorter<JsonObject>,
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const properties = data.entries();
  let next = await properties.next();
  for await (const [event, all] of rows.entries()) {
    while (next.done !== true && next.value[0] < event) next = await properties.next();
    const found = next.done !== true && next.value[0] === event ? next.value[1] : undefined;
    for (const [line, row] of all) yield joined(line, row, found);
  }
  await properties.return();
}

const joined = (line: number, row: JsonObject, found: JsonObject | undefined): ReadRecord<JsonObject> => ({
  line,
  value: found === undefined ? row : { ...row, [EVENT_DATA]: found },
});

const rowsBytes = (rows: Rows): number => rows.reduce((sum, [, row]) => sum + bytesOf(row), 0);

function bytesOf(properties: JsonObject): number {
  let bytes = 0;
  for (const key in properties) bytes += ENTRY_BYTES + key.length + String(properties[key]).length;
  return bytes;
}
