// Source `amplitude`: archives of the Export API (zip of gzip files), or the files of an S3 export.
import { readJsonLines } from '../../input/records.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const amplitude = defineSource({
  name: 'amplitude',
  about: 'archives of the Export API, or files of an S3 export (NDJSON)',
  read: readJsonLines,
  createMapper,
});
