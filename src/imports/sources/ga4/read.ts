// Source `ga4`: the BigQuery export of Google Analytics 4 as JSON lines.
import { readJsonLines } from '../../input/records.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const ga4 = defineSource({
  name: 'ga4',
  about: 'tables of the BigQuery export of Google Analytics 4 (NDJSON)',
  read: readJsonLines,
  createMapper,
});
