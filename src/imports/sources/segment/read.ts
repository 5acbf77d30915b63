// Source `segment`: archives of whole calls of Segment or RudderStack, such as those of an S3
// destination.
import { readJsonLines } from '../../input/records.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const segment = defineSource({
  name: 'segment',
  about: 'archives of calls of Segment or RudderStack (NDJSON)',
  read: readJsonLines,
  createMapper,
});
