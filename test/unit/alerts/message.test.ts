import { expect, test } from 'vitest';
import { type AlertMessage, showCell, toChat, toSubject, toText, toWebhookBody } from '../../../src/alerts/message.js';

const firing: AlertMessage = {
  alert: 'checkout-silent',
  ...{ dashboard: 'sales', title: 'Sales', query: 'purchase | last 1h | count by country\n', condition: 'value<5' },
  ...{ before: 'ok', state: 'firing', value: 3, error: null },
  ...{ url: 'https://analytics.example.com/projects/p/dashboards/d', at: '2026-11-22T08:15:03.120Z' },
};

test('a message has the change, the reason, the rows, the query and the address', () => {
  expect(toText(firing, [{ country: 'DE', count: 3, value: 3, metric: 'count' }]).split('\n')).toEqual([
    'Firing: checkout-silent (Sales)',
    'value is 3; the condition value < 5 holds',
    '- country DE, count 3, value 3',
    'purchase | last 1h | count by country',
    'https://analytics.example.com/projects/p/dashboards/d',
  ]);
});

test.each<[Partial<AlertMessage>, string]>([
  [{ state: 'ok', before: 'firing', value: 9 }, 'value is 9; the condition value < 5 does not hold'],
  [{ condition: 'no rows', value: null }, 'the condition no rows holds'],
  [{ state: 'failing', value: null, error: 'timed out' }, 'Three checks in a row failed: timed out'],
])('the reason of %j is %j', (changed, reason) => {
  expect(toText({ ...firing, ...changed }, []).split('\n')[1]).toBe(reason);
});

test('values of events can neither notify people of a chat nor begin a line', () => {
  const row = { country: '<!channel> @everyone\nFiring: other', value: 1 };
  const body = JSON.parse(toWebhookBody(firing, [row], 'd-1'));
  expect(body.text).toContain('- country &lt;!channel&gt; @everyone Firing: other, value 1\n');
  expect(body.content).toContain('- country <!channel> @everyone Firing: other, value 1\n');
  expect(body).toMatchObject({ allowed_mentions: { parse: [] }, delivery_id: 'd-1', rows: [row], state: 'firing' });
  expect(toSubject({ ...firing, title: 'Sales\r\nBcc: all@example.com' })).toBe(
    'Firing: checkout-silent (Sales Bcc: all@example.com)',
  );
});

test('values of events cannot hide the address of a link', () => {
  const body = JSON.parse(toWebhookBody(firing, [{ plan: '[Sign in](https://evil.example)' }], 'd-1'));
  expect(body.content).toContain('- plan [Sign in]\\(https://evil.example)\n');
  expect(body.text).toContain('- plan [Sign in](https://evil.example)\n');
  const rows = Array.from({ length: 10 }, () => ({ a: ']('.repeat(50), b: ']('.repeat(50) }));
  expect(JSON.parse(toWebhookBody(firing, rows, 'd-1')).content.length).toBeLessThanOrEqual(2000);
});

test('long values and long messages are cut, as chats limit them', () => {
  const rows = Array.from({ length: 10 }, () =>
    Object.fromEntries([...'abcdefgh'].map((name) => [name, 'x'.repeat(500)])),
  );
  const body = JSON.parse(toWebhookBody(firing, rows, 'd-1'));
  expect(body.content.length).toBeLessThanOrEqual(2000);
  expect(toText(firing, rows.slice(0, 1))).toContain(`a ${'x'.repeat(99)}…, b `);
});

test('the nodes of a path, and lists, are joined as in a table', () => {
  expect(toText(firing, [{ path: ['a', 'b "c"'], users: 3 }])).toContain('- path a -> b "c", users 3\n');
  expect(showCell(['a', 'b'], 'top_properties')).toBe('a, b');
  expect(showCell({ plan: 'pro' }, 'properties')).toBe('{"plan":"pro"}');
});

test('a cut never leaves half of a character', () => {
  expect(showCell(`${'x'.repeat(98)}😀 and more`, 'a')).toBe(`${'x'.repeat(98)}\ufffd…`);
  for (const before of [0, 1]) {
    const { text } = toChat('x'.repeat(before) + '😀'.repeat(1000));
    expect(text.isWellFormed()).toBe(true);
  }
});
