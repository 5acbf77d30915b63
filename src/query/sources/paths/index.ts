// The source `paths`: what people do after or before an event.
import { theForm } from '../../language.js';
import { buildEventIn } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzePaths } from './analyze.js';

export const paths = defineSource({
  example: 'paths from a',
  about:
    'or `paths to a`: one sequence of events per person, within `window` (1h) and `depth` (5); `by FIELD` relabels',
  hint: theForm('paths from signup, or paths to signup'),
  days: 7,
  answers: 'answers users by path',
  columns: ['path', 'users'],
  modes: ['paths'],
  build: (reader, node) => {
    const anchor = buildEventIn(reader, node);
    const isTo = node.getChildren('Keyword').some((word) => reader.slice(word) === 'to');
    return anchor && { direction: isTo ? ('to' as const) : ('from' as const), anchor };
  },
  analyze: analyzePaths,
});
