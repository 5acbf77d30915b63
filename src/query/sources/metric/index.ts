// The source `metric NAME`: a metric that the project has defined. Its text takes its place before
// the query is analyzed (definitions/expand.ts).
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';

export const metric = defineSource({
  example: 'metric NAME',
  about: 'a number that the project has defined, with range and groups: `metric activation | by week`',
  hint: `${theForm('metric activation')}; an event called metric is written "metric"`,
  days: 7,
  answers: 'answers its own columns',
  modes: [],
  build: (reader, node) => {
    const name = reader.name(node.getChild('MetricName'));
    return name && { name };
  },
  analyze: () => undefined,
});
