// Parser of the Procfile.
import { expect, test } from 'vitest';
import { parseProcfile } from '../../../standalone/procfile.js';

test('parseProcfile() reads one process per line and skips comments and blank lines', () => {
  const text = '# what runs\n\nweb: node dist/src/api/main.js\nclock-1:  node dist/workers/main.js --scheduled\n';
  expect(parseProcfile(text)).toEqual([
    { name: 'web', command: 'node', args: ['dist/src/api/main.js'] },
    { name: 'clock-1', command: 'node', args: ['dist/workers/main.js', '--scheduled'] },
  ]);
});

test('parseProcfile() throws with an invalid line', () => {
  expect(() => parseProcfile('web node main.js')).toThrow('not a line of a Procfile: web node main.js');
});
