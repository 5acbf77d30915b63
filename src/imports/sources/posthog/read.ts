// Source `posthog`: batch exports as JSON lines or Parquet, of the models events and persons.
import type { JsonObject } from '../../../platform/json-object.js';
import { isParquet, readParquet } from '../../input/parquet.js';
import { readJsonLines } from '../../input/records.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const posthog = defineSource<JsonObject>({
  name: 'posthog',
  about: 'batch exports as JSON lines or Parquet, of events and persons',
  read: (file) => (isParquet(file) ? readParquet(file) : readJsonLines(file)),
  createMapper,
});
