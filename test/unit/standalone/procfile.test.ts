import { expect, test } from 'vitest';
import { parseProcfile } from '../../../standalone/procfile.js';

test('a process a line, comments and blank lines aside', () => {
  const text = '# what runs\n\nweb: node dist/src/api/main.js\nclock-1:  node dist/workers/main.js --scheduled\n';
  expect(parseProcfile(text)).toEqual([
    { name: 'web', command: 'node', args: ['dist/src/api/main.js'] },
    { name: 'clock-1', command: 'node', args: ['dist/workers/main.js', '--scheduled'] },
  ]);
});

test('anything else is an error that shows the line', () => {
  expect(() => parseProcfile('web node main.js')).toThrow('not a line of a Procfile: web node main.js');
});
