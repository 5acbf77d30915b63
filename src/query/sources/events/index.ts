// The event source and `*`: aggregates and lists of events.
import { STAGE_NAMES } from '../../language.js';
import { buildEventIn } from '../../parse/build-condition.js';
import { defineSource } from '../source.js';
import { analyzeEvent, analyzeEventRows } from './analyze.js';

export const event = defineSource({
  words: [],
  what: 'the source',
  example: 'signup',
  about: 'events of a type; `"any name"` in quotes',
  hint: 'after the source comes a pipe and a stage: signup | count; an event name with other characters than letters, digits and _ . : / $ - goes in quotes',
  name: 'an event source',
  days: 7,
  modes: ['aggregate', 'list', 'latest_aggregate', 'people'],
  build: (reader, node) => {
    const event = buildEventIn(reader, node);
    return event && { event, ...(STAGE_NAMES.includes(reader.slice(node)) && { isLikeStage: true }) };
  },
  analyze: analyzeEvent,
});

export const all = defineSource({
  words: [],
  what: 'the source',
  example: '*',
  about: 'all events; may be left out: `| last 7d | count`',
  hint: 'after the source comes a pipe and a stage: * | count',
  name: 'an event source',
  days: 7,
  modes: ['aggregate', 'list', 'latest_aggregate'],
  build: () => ({}),
  analyze: (scope, _, stages) => analyzeEventRows(scope, stages),
});
