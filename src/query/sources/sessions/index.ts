// The source `sessions`: sessions that start in the range.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeSessions } from './analyze.js';

export const sessions = defineSource({
  example: 'sessions',
  about: 'sessions by day with durations and bounce rate, or any aggregate by `session.KEY`',
  hint: theForm('sessions | last 30d'),
  days: 7,
  columns: ['day', 'sessions', 'avg_duration', 'avg_events', 'bounce_rate'],
  modes: ['sessions'],
  build: () => ({}),
  analyze: analyzeSessions,
});
