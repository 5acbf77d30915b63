// What the audit trail says of an import that is stopped before, or after, its summary.
import { expect, test } from 'vitest';
import { ImportSummary } from '../../../src/imports/summary.js';
import { Ending } from '../../../src/imports/upload/ending.js';
import { toSummaryLine } from '../../../src/imports/upload/messages.js';

const SUMMARY = toSummaryLine(new ImportSummary());
const ERROR = { error: 'the service is being restarted' };

test('with its summary an import has ended, whatever comes before the end of its thread', () => {
  const ending = new Ending();
  expect(ending.say(SUMMARY)).toBe(true);
  expect(ending.say(ERROR)).toBe(false);
  ending.stop();
  expect(ending.ended).toEqual({ last: SUMMARY, isStopped: false });
});

test('one that was stopped before its summary was stopped, also when the summary comes', () => {
  const ending = new Ending();
  ending.stop();
  expect(ending.say(SUMMARY)).toBe(true);
  expect(ending.ended).toEqual({ last: SUMMARY, isStopped: true });
});

test('the last line before a stop stays', () => {
  const ending = new Ending();
  ending.say(ERROR);
  ending.stop();
  expect(ending.ended).toEqual({ last: ERROR, isStopped: true });
});
