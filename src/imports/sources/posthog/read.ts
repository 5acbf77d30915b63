// Source `posthog`: JSON lines of batch exports, of the models events and persons.
import type { InputFile } from '../../input/input-files.js';
import { readJsonLines } from '../../input/records.js';
import { defineSource, type ReadRecord } from '../../source.js';
import type { JsonObject } from '../../values.js';
import { createMapper } from './map.js';

export const posthog = defineSource<JsonObject>({
  name: 'posthog',
  about: 'batch exports as JSON lines, of events and persons',
  read: readPostHog,
  createMapper,
});

async function* readPostHog(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  if (/\.parquet(?:\.\w+)?$/.test(file.name)) {
    yield { line: 1, problem: 'Parquet is not read: choose the format JSON lines for the batch export' };
  } else yield* readJsonLines(file);
}
