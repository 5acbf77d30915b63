// Source `mixpanel`: the raw export (one event a line) and pages of people from `engage`.
import { isObject, type JsonObject } from '../../../platform/json-object.js';
import type { InputFile } from '../../input/input-files.js';
import { readJsonLines } from '../../input/records.js';
import { defineSource, type ReadRecord } from '../../source.js';
import { createMapper } from './map.js';

/** A page of `engage` has up to 1,000 people in one line. */
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

export const mixpanel = defineSource<JsonObject>({
  name: 'mixpanel',
  about: 'raw export (NDJSON), and pages of engage for people',
  read: readMixpanel,
  createMapper,
});

/** Events, and people of a page as single records. */
async function* readMixpanel(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  for await (const record of readJsonLines(file, { recordBytesMax: PAGE_BYTES_MAX })) {
    const people = 'value' in record ? record.value.results : undefined;
    if (!Array.isArray(people)) yield record;
    else {
      for (const person of people) {
        yield isObject(person)
          ? { line: record.line, value: person }
          : { line: record.line, problem: 'a person of the page is not a JSON object' };
      }
    }
  }
}
