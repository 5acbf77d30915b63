// The source `lifecycle`: people by period, and whether they are new, returning, resurrected or
// dormant.
import { theForm } from '../../language.js';
import { buildEventIn } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzeLifecycle } from './analyze.js';

export const lifecycle = defineSource({
  example: 'lifecycle a by week',
  about: 'people New, Returning, Resurrected, Dormant in each period',
  hint: theForm('lifecycle login'),
  days: 30,
  answers: 'answers users by period and status',
  columns: ['period', 'status', 'users'],
  modes: ['lifecycle'],
  build: (reader, node) => {
    const event = buildEventIn(reader, node);
    return event && { event };
  },
  analyze: analyzeLifecycle,
});
