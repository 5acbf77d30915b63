// The source `inspect`: event types, or the properties of one.
import { theForm } from '../../language.js';
import { buildEventIn } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzeInspect } from './analyze.js';

export const inspect = defineSource({
  example: 'inspect *',
  about: 'event types; `inspect a`: properties of one',
  hint: theForm('inspect *, or inspect signup'),
  days: 30,
  columns: [
    'count',
    'users',
    'first_seen',
    'last_seen',
    'top_properties',
    'property',
    'coverage',
    'types',
    'distinct',
    'samples',
  ],
  modes: ['inspect'],
  build: (reader, node) => {
    const event = buildEventIn(reader, node);
    return event && { event };
  },
  analyze: analyzeInspect,
});
