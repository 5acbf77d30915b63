// Count of the events that arrive while the screen Live is paused, the gap of its list, and events
// that come again.
import { expect, test } from 'vitest';
import { keyOfEvent, mayLack, merged } from '../../../console/src/api/live-rows.js';
import { countNewer, hasGap } from '../../../console/src/live/count-newer.js';

const KEPT = 5;
const rowsTo = (newest: number): object[] =>
  Array.from({ length: KEPT }, (_, index) => EVENTS[newest - index] as object);
const EVENTS = Array.from({ length: 20 }, (_, n) => ({ n }));

test('countNewer() counts what a full feed has received since, and at most what the feed keeps', () => {
  expect(countNewer(rowsTo(10), rowsTo(10))).toBe(0);
  expect(countNewer(rowsTo(13), rowsTo(10))).toBe(3);
  expect(countNewer(rowsTo(19), rowsTo(10))).toBe(KEPT);
});

test('countNewer() of an empty feed counts all', () => {
  expect(countNewer([], [])).toBe(0);
  expect(countNewer(EVENTS, [])).toBe(20);
});

test('hasGap() until the newest event of that time has left the list', () => {
  expect(hasGap(rowsTo(10), EVENTS[10])).toBe(true);
  expect(hasGap(rowsTo(14), EVENTS[10])).toBe(true);
  expect(hasGap(rowsTo(15), EVENTS[10])).toBe(false);
  expect(hasGap(rowsTo(15), undefined)).toBe(false);
});

test('merged() lists an event once that comes again with the user of its device', () => {
  const event = { event_type: 'a', time: '2026-11-20T10:00:00Z', insert_id: '1', distinct_id: 'd-1' };
  const sameIdOfOtherType = { ...event, event_type: 'b' };
  const fresh = [sameIdOfOtherType, { ...event, distinct_id: 'ann' }];
  expect(merged(fresh, [event], keyOfEvent)).toEqual([sameIdOfOtherType, event]);
});

test('mayLack() when the newest 50 do not reach back to a known event', () => {
  const eventsFrom = (first: number, count = 50) =>
    Array.from({ length: count }, (_, n) => ({ event_type: 'a', time: `${first + n}`, insert_id: '1' }));
  expect(mayLack(eventsFrom(50), eventsFrom(0))).toBe(true);
  expect(mayLack(eventsFrom(49), eventsFrom(0))).toBe(false);
  expect(mayLack(eventsFrom(60, 10), eventsFrom(0))).toBe(false);
  expect(mayLack(eventsFrom(0), [])).toBe(false);
});
