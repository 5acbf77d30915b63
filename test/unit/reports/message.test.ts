import { expect, test } from 'vitest';
import { toHookBody, toMailContent } from '../../../src/alerts/outbox-message.js';
import type { ReportCard } from '../../../src/reports/answers.js';
import type { ReportMessage } from '../../../src/reports/message.js';

const message: ReportMessage = {
  ...{ report: 'monday', dashboard: 'sales', title: 'Sales', schedule: 'monday 08:00', timezone: 'Europe/Berlin' },
  ...{ url: 'https://analytics.example.com/projects/p/dashboards/d', at: '2026-11-23T07:00:03.120Z' },
};
const UNSUBSCRIBE = 'https://analytics.example.com/unsubscribe/t';

const number: ReportCard = {
  ...{ title: 'Revenue', columns: ['sum_price', 'previous', 'change'], numbers: [true, true, true] },
  ...{ rows: [['1,234.5', '1,100', '+12.2%']], rows_before: 0, total: 1, columns_left_out: 0 },
};
const table: ReportCard = {
  ...{ title: 'Orders by country', columns: ['_country', 'count'], numbers: [false, true] },
  ...{
    rows: [
      ['DE', '12'],
      ['France', '3'],
    ],
    rows_before: 0,
    total: 43,
    columns_left_out: 0,
  },
};
const failed: ReportCard = { title: 'Funnel', error: 'timed out' };

const mailOf = (rows: readonly ReportCard[] | undefined) => toMailContent({ message, rows }, UNSUBSCRIBE);

test('a mail has every card with its number or first rows, and links to the console', () => {
  const { subject, text } = mailOf([number, table, failed]);
  expect(subject).toBe('Report: Sales (monday)');
  expect(text.split('\n')).toEqual([
    'Report: Sales (monday)',
    'Monday, 23 November 2026, 08:00 (Europe/Berlin)',
    '',
    'Revenue',
    'sum_price 1,234.5, previous 1,100, change +12.2%',
    '',
    'Orders by country',
    '_country  count',
    'DE           12',
    'France        3',
    '(the first 2 of 43 rows)',
    '',
    'Funnel',
    'timed out',
    '',
    message.url,
    '',
    `Unsubscribe: ${UNSUBSCRIBE}`,
    '',
  ]);
});

test('the HTML of a mail has the same content, without images, scripts and styles from elsewhere', () => {
  const { html = '' } = mailOf([number, table, failed]);
  expect(html).toContain('sum_price 1,234.5, previous 1,100, change +12.2%');
  expect(html).toMatch(/<td style="[^"]*text-align:left">France<\/td><td style="[^"]*text-align:right">3<\/td>/);
  expect(html).toContain('<p>the first 2 of 43 rows</p>');
  expect(html).toContain('<p>timed out</p>');
  expect(html).toContain(`<a href="${message.url}">`);
  expect(html).toContain(`<a href="${UNSUBSCRIBE}">Unsubscribe</a>`);
  expect(html).not.toMatch(/<(?:img|script|link|iframe|style)|url\(/);
});

test('values of events are escaped in HTML, and cannot notify people of a chat', () => {
  const rows = [
    {
      ...table,
      title: '<b>T</b>',
      rows: [
        ['<img src=x onerror=alert(1)>', '1'],
        ['<!channel>', '2'],
      ],
    },
  ];
  const { html = '' } = mailOf(rows);
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(html).toContain('&lt;b&gt;T&lt;/b&gt;');
  expect(html).not.toContain('<img');
  const body = JSON.parse(toHookBody({ message, rows }, 'd-1'));
  expect(body.text).toContain('&lt;!channel&gt;');
  expect(body).toMatchObject({ allowed_mentions: { parse: [] }, delivery_id: 'd-1', report: 'monday', cards: rows });
});

test('a report whose numbers were deleted by an erasure says so', () => {
  const { text, html } = mailOf(undefined);
  for (const form of [text, html]) expect(form).toContain('because data of a person was erased');
  expect(JSON.parse(toHookBody({ message, rows: undefined }, 'd-1'))).toMatchObject({ cards: null });
});

test('a card with columns that are not shown says so, also with a single row of numbers', () => {
  const { text, html = '' } = mailOf([
    { ...number, columns_left_out: 3 },
    { ...table, columns_left_out: 1 },
  ]);
  expect(text).toContain('1,234.5     1,100  +12.2%\n(without 3 columns)\n');
  expect(text).toContain('(the first 2 of 43 rows, without a column)');
  expect(html).toContain('<p>without 3 columns</p>');
});

test('a number alone has no name, and the last rows of a series are called so', () => {
  const alone: ReportCard = { ...number, columns: ['total'], numbers: [true], rows: [['220,046']] };
  const { text, html = '' } = mailOf([alone, { ...table, rows_before: 41 }]);
  expect(text).toContain('Revenue\n220,046\n\n');
  expect(text).toContain('(the last 2 of 43 rows)');
  expect(html).toContain('margin:0">220,046</p>');
});

test('cards without rows, and dashboards without cards, are named', () => {
  expect(mailOf([{ ...table, rows: [], total: 0 }]).text).toContain('Orders by country\nno rows\n');
  expect(mailOf([]).text).toContain('The dashboard has no cards with queries.');
});

test('a table of numbers that is shown as a whole has its rows, and no remark', () => {
  const whole: ReportCard = {
    ...{ title: 'Hours', columns: ['hour_of_day', 'count'], numbers: [true, true] },
    ...{ rows_before: 0, total: 2, columns_left_out: 0 },
    rows: [
      ['9', '120'],
      ['10', '3'],
    ],
  };
  const { text, html } = mailOf([whole]);
  expect(text).toContain('Hours\nhour_of_day  count\n          9    120\n         10      3\n\nhttps://');
  expect(html).toContain('</tbody></table>\n\n');
});
