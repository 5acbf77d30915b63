// The source `users`: profiles as rows.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeUsers } from './analyze.js';

export const users = defineSource({
  example: 'users',
  about: 'profiles; fields are bare: `plan`, `email`',
  hint: theForm('users | where plan = "pro"'),
  days: 30,
  modes: ['users'],
  build: () => ({}),
  analyze: analyzeUsers,
});
