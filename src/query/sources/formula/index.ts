// The source `formula`: arithmetic over aggregates of events.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeFormula } from './analyze.js';
import { buildFormula } from './build.js';

export const formula = defineSource({
  example: 'formula count(a) / unique(b)',
  about: 'also sum(a, FIELD), avg(a, FIELD), + - * /, numbers; `by day`',
  hint: theForm('formula count(pay) / count(signup)'),
  days: 7,
  answers: 'answers one value',
  modes: ['formula'],
  build: buildFormula,
  analyze: analyzeFormula,
});
