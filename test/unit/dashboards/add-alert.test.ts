// Adding an alert to the text of a dashboard: at the end of its list, or with the list above the
// sections; comments and blanks stay.
import { expect, test } from 'vitest';
import { addAlert } from '../../../src/dashboards/add-alert.js';
import { SMALLEST } from './documents.js';

const ALERT = {
  id: 'silent',
  query: 'signup | last 1h | count',
  when: 'value < 5',
  every: '15m',
  to: ['mailto:a@b.de'],
};

test('the first alert makes the list, above the sections', () => {
  expect(addAlert(`# ours\n${SMALLEST}`, ALERT)).toBe(
    `# ours\n${SMALLEST.replace(
      'sections:',
      `alerts:
  - id: silent
    query: signup | last 1h | count
    when: value < 5
    every: 15m
    to:
      - mailto:a@b.de
sections:`,
    )}`,
  );
});

test('another alert stands behind the last one, whose comments stay', () => {
  const source = `${SMALLEST}alerts: # pages\n  - {id: a, query: signup | count, when: no rows, every: 1d, to: ['https://x.invalid/']} # old\n`;
  expect(addAlert(source, ALERT)).toBe(
    `${source}  - id: silent
    query: signup | last 1h | count
    when: value < 5
    every: 15m
    to:
      - mailto:a@b.de
`,
  );
});
