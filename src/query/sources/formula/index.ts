// The source `formula`: arithmetic over aggregates of events.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeFormula } from './analyze.js';
import { buildFormula } from './build.js';

export const formula = defineSource({
  example: 'formula count(a) / unique(b)',
  about: 'also sum(a, FIELD), avg; + - * /; `A as x, B as y | by day, FIELD`; `unique(* last 28d)`',
  hint: theForm('formula count(pay) / count(signup)'),
  days: 7,
  answers: 'answers its own columns',
  modes: ['formula'],
  build: buildFormula,
  analyze: analyzeFormula,
});
