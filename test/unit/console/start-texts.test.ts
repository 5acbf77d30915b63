// Texts of the screen "Send events".
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startTexts } from '../../../console/src/texts/start.js';

test.each([
  ['node', 'npm pack ./clients/node'],
  ['python', 'pip install ./clients/python'],
] as const)('the note about %s has the command that the README of its client has', async (way, command) => {
  expect(startTexts.wayNotes[way]).toContain(command);
  expect(await readFile(`clients/${way}/README.md`, 'utf8')).toContain(command);
});
