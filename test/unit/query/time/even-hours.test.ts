// Runs of evenly spaced hours, compared with the list of all hours of a range.
import { expect, test } from 'vitest';
import type { TimeRange } from '../../../../src/query/analyze/resolved.js';
import { listBuckets } from '../../../../src/query/time/bucket-list.js';
import { type EvenBuckets, evenDays, evenHours } from '../../../../src/query/time/irregular-hours.js';

const MINUTE_MS = 60_000;

const IRREGULAR = [
  ['Australia/Lord_Howe', '2025-10-04'],
  ['Australia/Lord_Howe', '2026-04-04'],
  ['Asia/Kathmandu', '1985-12-31'],
  ['America/Caracas', '2007-12-09'],
  ['America/St_Johns', '2006-04-02'],
  ['America/St_Johns', '2006-10-29'],
  ['Antarctica/Casey', '2020-10-03'],
] as const;

/** Minutes at which the clock shows another hour than before, or a full one. */
function hoursOfClock({ fromMs, toMs }: TimeRange, zone: string): number[] {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const starts: number[] = [];
  let before = clock.format(fromMs - MINUTE_MS);
  for (let ms = fromMs; ms < toMs; ms += MINUTE_MS) {
    const shown = clock.format(ms);
    if (shown.slice(0, -2) !== before.slice(0, -2) || shown.endsWith(':00')) starts.push(ms);
    before = shown;
  }
  return starts;
}

test.each([...IRREGULAR, ['Europe/Berlin', '2026-10-24'], ['Asia/Kolkata', '2026-11-20']] as const)(
  'the hours of %s around %s begin when its clock shows another one',
  (zone, day) => {
    const range = { fromMs: Date.parse(day), toMs: Date.parse(day) + 3 * 24 * 60 * MINUTE_MS };
    const hours = listBuckets(range, 'hour', zone);
    const expected = hoursOfClock(range, zone);
    expect(hours.map(({ fromMs }) => fromMs).slice(-expected.length)).toEqual(expected);
    for (const ms of [hours[0]?.fromMs, hours.at(-1)?.toMs])
      expect(hoursOfClock({ fromMs: Number(ms), toMs: Number(ms) + 1 }, zone)).toEqual([ms]);
  },
);

test.each(IRREGULAR)('evenHours() has every hour of %s around %s, wherever the range begins', (zone, day) => {
  for (let minute = -24 * 60; minute < 48 * 60; minute += 131) {
    const fromMs = Date.parse(day) + minute * MINUTE_MS;
    const range = { fromMs, toMs: fromMs + 50 * 60 * MINUTE_MS };
    const runs = evenHours(range, zone);
    const hours = listBuckets(range, 'hour', zone).map((hour) => hour.fromMs / 1000);
    const found = hours.map((_, index) => {
      const run = runs.findLast((of) => of.index <= index) as EvenBuckets;
      return run.start + (index - run.index) * 3600;
    });
    expect(found).toEqual(hours);
  }
});

test('evenDays() leaves out a day that the zone skipped', () => {
  const day = (date: string) => Date.parse(date) / (24 * 60 * MINUTE_MS);
  const range = { fromMs: Date.parse('2011-12-29T00:00:00Z'), toMs: Date.parse('2012-01-02T00:00:00Z') };
  expect(evenDays(range, 'Pacific/Apia')).toEqual([
    { index: 0, start: day('2011-12-28') },
    { index: 2, start: day('2011-12-31') },
  ]);
});

test('evenDays() has no run before a range that begins behind a skipped day', () => {
  const day = (date: string) => Date.parse(date) / (24 * 60 * MINUTE_MS);
  const range = { fromMs: Date.parse('2011-12-30T10:00:00Z'), toMs: Date.parse('2012-01-02T10:00:00Z') };
  expect(evenDays(range, 'Pacific/Apia')).toEqual([{ index: 0, start: day('2011-12-31') }]);
});
