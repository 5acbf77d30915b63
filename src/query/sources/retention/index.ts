// The source `retention`: who comes back in later periods.
import { theForm } from '../../language.js';
import { buildEventIn, buildReturning } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzeRetention } from './analyze.js';

export const retention = defineSource({
  example: 'retention a returning b by week',
  about: 'cohorts by first a, and who does b (any event when left out) in later periods; `| sum FIELD`: their value',
  hint: theForm('retention signup returning login'),
  days: 12 * 7,
  answers: 'answers users and rates of each cohort and period',
  columns: ['cohort', 'cohort_size', 'period', 'users', 'rate', 'total', 'cumulative'],
  modes: ['retention'],
  build: (reader, node) => {
    const start = buildEventIn(reader, node);
    return start && { start, returning: buildReturning(reader, node) };
  },
  analyze: analyzeRetention,
});
