// The source `user "<id>"`: events of one person.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeUser } from './analyze.js';

export const user = defineSource({
  example: 'user "id or e-mail"',
  about: 'events of one person',
  hint: theForm('user "id", with the id in quotes'),
  days: 30,
  modes: ['user'],
  build: (reader, node) => {
    const id = reader.token(node.getChild('String'));
    return id && { id };
  },
  analyze: analyzeUser,
});
