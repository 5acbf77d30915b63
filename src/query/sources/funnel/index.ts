// The source `funnel`: how many people go through steps in order.
import { theForm } from '../../language.js';
import { buildEventsIn, buildExcluded } from '../../parse/build-condition.js';
import { findError } from '../../parse/node-reader.js';
import { defineSource } from '../source.js';
import { analyzeFunnel } from './analyze.js';

export const funnel = defineSource({
  example: 'funnel a -> b -> c exclude x',
  about:
    'people who do a, then b, then c within `window` (1h) of a. Columns step, event, users, rate, step_rate, median_seconds',
  hint: theForm('funnel signup -> pay exclude refund'),
  days: 7,
  answers: 'answers users, rates and the median time of each step',
  columns: ['step', 'event', 'users', 'rate', 'step_rate', 'median_seconds'],
  modes: ['funnel'],
  build: (reader, node) => ({
    steps: buildEventsIn(reader, node),
    exclude: buildExcluded(reader, node),
    isWhole: findError(node) === undefined,
  }),
  analyze: analyzeFunnel,
});
