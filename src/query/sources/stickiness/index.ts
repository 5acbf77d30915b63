// The source `stickiness`: people by number of active days.
import { theForm } from '../../language.js';
import { buildEventIn } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzeStickiness } from './analyze.js';

export const stickiness = defineSource({
  example: 'stickiness a',
  about: 'people by number of active days',
  hint: theForm('stickiness login'),
  days: 30,
  answers: 'answers users by their number of active days',
  columns: ['active_days', 'users'],
  modes: ['stickiness'],
  build: (reader, node) => {
    const event = buildEventIn(reader, node);
    return event && { event };
  },
  analyze: analyzeStickiness,
});
