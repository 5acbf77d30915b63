// Source `event-analytics`: exports of this service, of all events and of identities.
import { readJsonLines } from '../../input/records.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const eventAnalytics = defineSource({
  name: 'event-analytics',
  about: 'exports of this service: events, and identities (NDJSON)',
  read: readJsonLines,
  createMapper,
});
