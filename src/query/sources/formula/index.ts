// The source `formula`: arithmetic over aggregates of events.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeFormula } from './analyze.js';
import { buildFormula } from './build.js';

export const formula = defineSource({
  example: 'formula count(a) / unique(b)',
  about:
    'also sum(a, FIELD), avg(a, FIELD), + - * /, numbers; columns `A as x, B as y`; `unique(* last 28d)`; `by day, FIELD`',
  hint: theForm('formula count(pay) / count(signup)'),
  days: 7,
  answers: 'answers its own columns',
  modes: ['formula'],
  build: buildFormula,
  analyze: analyzeFormula,
});
