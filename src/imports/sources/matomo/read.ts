// Source `matomo`: visits of the API method Live.getLastVisitsDetails as JSON.
import { readJsonObjects } from '../../input/json-values.js';
import { defineSource } from '../../source.js';
import { createMapper } from './map.js';

export const matomo = defineSource({
  name: 'matomo',
  about: 'visits of Live.getLastVisitsDetails (JSON)',
  read: (file) => readJsonObjects(file.open()),
  createMapper,
});
