// partsOf() explains what each part of a query does there, with the query's own names and numbers.
import { expect, test } from 'vitest';
import { partsOf } from '../../../console/src/language/words.js';

const explained = (q: string): readonly string[] => partsOf(q).map(({ about }) => about);

test.each([
  [
    'page_view | last 3 days | unique by day, bucket(price, 10)',
    [
      'these events',
      'time range: the last 3 days, up to now',
      'the number of different people, for each day and each step of 10 of price',
    ],
  ],
  [
    '* | where _country = "DE" | count by _country | where count > 20 | sort count desc | top 3 other',
    [
      'all events',
      'only the events that fulfil this',
      'the number of events, for each _country',
      'only the rows of the answer that fulfil this',
      'rows are ordered by count, largest first',
      'only the 3 groups with the largest numbers, and the others together as one',
    ],
  ],
  [
    'users | where plan = "pro" | count by day of first_seen',
    [
      'people, with their profiles',
      'only the people that fulfil this',
      'the number of people, for each day of first_seen',
    ],
  ],
  [
    'a | count per distinct_id | p90 count | from 2026-01-01 to 2026-02-01',
    [
      'these events',
      'the number of events of each distinct_id',
      'of these numbers: the value of count that 90 % do not exceed',
      'time range: from 2026-01-01 until just before 2026-02-01',
    ],
  ],
  [
    'funnel a -> b | window 1h | people at 2',
    [
      'people who did the first step, and how many of them did each of the next ones',
      'all steps are done within 1 hour of the first',
      'the people who did step 2',
    ],
  ],
  [
    'retention a | window 24h | people at 2 | last month',
    [
      'people by when they did the first event, and how many of them came back later',
      "periods are 24 hours long, from the person's own start",
      'the people who came back in period 2',
      'time range: the whole month before this one',
    ],
  ],
])('%s', (q, parts) => expect(explained(q)).toEqual(parts));
