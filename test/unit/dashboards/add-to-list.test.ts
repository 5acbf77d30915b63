// Adding an alert or a report to the text of a dashboard: at the end of its list, or with the list
// above the sections; comments and blanks stay.
import { expect, test } from 'vitest';
import { addToList } from '../../../src/dashboards/add-to-list.js';
import { SMALLEST } from './documents.js';

const ALERT = {
  id: 'silent',
  query: 'signup | last 1h | count',
  when: 'value < 5',
  every: '15m',
  to: ['mailto:a@b.de'],
};

test('the first alert makes the list, above the sections', () => {
  expect(addToList(`# ours\n${SMALLEST}`, { list: 'alerts', item: ALERT })).toBe(
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
  expect(addToList(source, { list: 'alerts', item: ALERT })).toBe(
    `${source}  - id: silent
    query: signup | last 1h | count
    when: value < 5
    every: 15m
    to:
      - mailto:a@b.de
`,
  );
});

test('a report goes into a list of its own', () => {
  const report = { id: 'monday', at: 'monday 08:00', to: ['mailto:a@b.de'] };
  expect(addToList(SMALLEST, { list: 'reports', item: report })).toContain('reports:\n  - id: monday\n');
});
