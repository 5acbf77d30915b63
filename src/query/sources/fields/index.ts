// The source `fields`: the fields of events with their coverage.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeFields } from './analyze.js';

export const fields = defineSource({
  example: 'fields',
  about: 'every field with type and coverage',
  hint: theForm('fields | last 30d'),
  days: 30,
  answers: 'lists the fields of events',
  columns: ['field', 'type', 'category', 'events', 'coverage'],
  modes: ['fields'],
  build: () => ({}),
  analyze: analyzeFields,
});
