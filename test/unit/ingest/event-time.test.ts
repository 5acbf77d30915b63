// Parser of event times: accepted forms, and values that count as absent.
import { describe, expect, test } from 'vitest';
import { tryParseEventTime } from '../../../src/ingest/event-time.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);

describe('tryParseEventTime', () => {
  test.each([
    ['UTC', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00.000Z'],
    ['milliseconds', '2026-11-20T08:00:00.123Z', '2026-11-20T08:00:00.123Z'],
    ['finer fractions are cut', '2026-11-20T08:00:00.123999Z', '2026-11-20T08:00:00.123Z'],
    ['however fine they are', `2026-11-20T08:00:00.${'123456789'.repeat(20)}Z`, '2026-11-20T08:00:00.123Z'],
    ['a leap second is the next one', '2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['a leap second with an offset', '2017-01-01T05:29:60.5+05:30', '2017-01-01T00:00:00.500Z'],
    ['hours only', '2026-11-20T08Z', '2026-11-20T08:00:00.000Z'],
    ['hours only, of a zone', '2026-11-20T10+02', '2026-11-20T08:00:00.000Z'],
    ['the basic form', '20261120T080000Z', '2026-11-20T08:00:00.000Z'],
    ['the basic form, fine', '20261120T100000.1239+0200', '2026-11-20T08:00:00.123Z'],
    ['the basic form, minutes only', '20261120T0800', '2026-11-20T08:00:00.000Z'],
    ['one digit of fraction', '2026-11-20T08:00:00.5Z', '2026-11-20T08:00:00.500Z'],
    ['an offset', '2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['a negative offset without colon', '2026-11-20T02:30:00-0530', '2026-11-20T08:00:00.000Z'],
    ['no offset is UTC', '2026-11-20T08:00:00', '2026-11-20T08:00:00.000Z'],
    ['a blank instead of T', '2026-11-20 08:00:00Z', '2026-11-20T08:00:00.000Z'],
    ['a date alone', '2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['minutes only', '2026-11-20T08:00Z', '2026-11-20T08:00:00.000Z'],
    ['a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['epoch milliseconds', Date.UTC(2026, 10, 1), '2026-11-01T00:00:00.000Z'],
    ['epoch seconds', Date.UTC(2026, 10, 1) / 1000, '2026-11-01T00:00:00.000Z'],
    ['fractional epoch seconds', Date.UTC(2026, 10, 1) / 1000 + 0.25, '2026-11-01T00:00:00.250Z'],
    ['the first moment that counts', '2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
    ['24 h ahead', '2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
  ])('parses %s', (_, value, expected) => {
    expect(new Date(tryParseEventTime(value, NOW) ?? 0).toISOString()).toBe(expected);
  });

  test.each([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
    ['words', 'yesterday'],
    ['before 2000', '1999-12-31T23:59:59.999Z'],
    ['more than 24 h ahead', '2026-11-21T09:30:00.001Z'],
    ['a day that no month has', '2026-02-30T00:00:00Z'],
    ['hour 24', '2026-11-20T24:00:00Z'],
    ['a leap second in the middle of a day', '2026-11-20T08:00:60Z'],
    ['second 61', '2016-12-31T23:59:61Z'],
    ['a month that no year has', '20261320T080000Z'],
    ['a basic date alone', '20261120'],
    ['an offset of 24 h', '2026-11-20T08:00:00+24:00'],
    ['an object', {}],
    ['numbers in text', '1763625600000'],
    ['not a number', Number.NaN],
    ['text before', 'x2026-11-20T08:00:00Z'],
  ])('returns undefined for %s', (_, value) => {
    expect(tryParseEventTime(value, NOW)).toBeUndefined();
  });

  test.each([
    ['a day that no month has', '2026-02-30T08:00:00.000Z'],
    ['hour 24', '2026-11-20T24:00:00.000Z'],
    ['minute 60', '2026-11-20T08:60:00.000Z'],
    ['a leap second in the middle of a day', '2026-11-20T08:00:60.000Z'],
    ['a letter', '2026-11-20T0a:00:00.000Z'],
    ['a sign', '2026-11-20T-1:00:00.000Z'],
    ['a blank', '2026-11-20T08:00:00. 00Z'],
    ['a digit of another script', '2026-11-20T08:00:0\u0665.000Z'],
    ['another separator', '2026/11/20T08:00:00.000Z'],
  ])('returns undefined for %s in the usual form, also after a time of that day', (_, value) => {
    tryParseEventTime(`${value.slice(0, 10)}T08:00:00.000Z`, NOW);
    expect(tryParseEventTime(value, NOW)).toBeUndefined();
  });

  test('parses the usual form as all others', () => {
    for (let day = 0; day < 9_000; day += 1) {
      const time = Date.UTC(2000, 0, 1) + day * 86_400_000 + ((day * 7_919_333) % 86_400_000);
      const text = new Date(time).toISOString();
      for (const form of [text, text.toLowerCase(), `${text.slice(0, -1)}+00:00`]) {
        expect([form, tryParseEventTime(form, NOW)]).toEqual([form, time]);
      }
    }
  });

  test('parses a leap second in the usual form', () => {
    expect(tryParseEventTime('2016-12-31T23:59:60.000Z', NOW)).toBe(Date.UTC(2017, 0, 1));
  });
});
