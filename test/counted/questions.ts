// Questions that are compared with a count of the same events, written for each question from the
// documentation: the history, what is read of an event, and the test of a question and its pages.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Event, propertyOf } from '../oracle/history.js';
import { type Ask, type OracleService, startOracleService, toServiceAnswer } from '../support/oracle-service.js';
import * as c from './counting.js';
import { HISTORY } from './history.js';

export type Rows = readonly c.Row[];
export type Is = (event: Event) => boolean;
export const NOW = '2026-11-29T11:30:00.000Z';
export const BERLIN = 'Europe/Berlin';
export const NEW_YORK = 'America/New_York';
export const KATHMANDU = 'Asia/Kathmandu';
export const LORD_HOWE = 'Australia/Lord_Howe';

/** Answers with so many rows are asked for in pages too. */
const PAGED_FROM = 8;

export interface Question {
  readonly text: string;
  readonly rows: () => Rows;
  readonly zone: string;
  readonly now: string;
}

/** Adds a question to the list. */
export const questionsOf =
  (questions: Question[]) =>
  (text: string, rows: () => Rows, zone = 'UTC', now = NOW): void => {
    questions.push({ text, rows, zone, now });
  };

/** Declares a test for each question: its rows in their order, as a whole and in pages. */
export function compareWithCounts(questions: readonly Question[]): void {
  let service: OracleService;
  let asks: ReadonlyMap<string, Ask>;
  const momentOf = ({ zone, now }: Question): string => `${zone} ${now}`;

  beforeAll(async () => {
    service = await startOracleService();
    const moments = new Map(questions.map((one) => [momentOf(one), { timezone: one.zone, now: Date.parse(one.now) }]));
    const stored = await service.store([...moments.values()].map((context) => ({ history: HISTORY, context })));
    asks = new Map([...moments.keys()].map((moment, index) => [moment, stored[index] as Ask]));
  });

  afterAll(() => service?.close());

  test.each(questions.map((question) => [question.text, question] as const))('%s', async (text, question) => {
    const ask = asks.get(momentOf(question)) as Ask;
    const given = toServiceAnswer(await ask(text));
    const found = rowsOf(given);
    expect(rounded(found)).toEqual(rounded(question.rows()));
    if (found.length < PAGED_FROM) return;
    const limit = Math.ceil(found.length / 2);
    const second = toServiceAnswer(await ask(text, { limit, offset: limit }));
    expect(rowsOf(second)).toEqual(found.slice(limit));
    expect(second.total).toBe(found.length);
  });
}

const rowsOf = ({ columns, rows }: ReturnType<typeof toServiceAnswer>) =>
  rows.map((row) => columns.map((column) => row[column]));

function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(10));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString();
  return value;
}

export const w = c.prepare(HISTORY);
export const at = c.instant;
export const within = (from: number, to: number, isWanted: (event: Event) => boolean = () => true) =>
  w.events.filter((e) => e.time >= from && e.time < to && isWanted(e));
/** Of the range of most questions, in the zone. */
export const AUTUMN = 'from 2026-10-01 to 2026-11-10';
export const autumn = (zone: string, isWanted?: Is) => within(at('2026-10-01', zone), at('2026-11-10', zone), isWanted);
export const inAutumn = (isWanted?: Is) => autumn(BERLIN, isWanted);
export const [A0, A1] = [at('2026-10-01', BERLIN), at('2026-11-10', BERLIN)];
export const day = (e: Event) => c.bucketOf(e.time, 'day', BERLIN);
export const week = (e: Event) => c.bucketOf(e.time, 'week', BERLIN);
export const is =
  (...types: string[]) =>
  (e: Event) =>
    types.includes(e.event_type);
export const prop = (key: string) => (e: Event) => propertyOf(e.event_properties, key);
export const price = (e: Event) => c.numberOf(prop('price')(e));
export const prices = (events: readonly Event[]) => events.map(price).filter((n) => n !== undefined);
export const plan = (e: Event) => c.textOf(prop('plan')(e));
export const account = (e: Event) => c.textOf(prop('account')(e));
export const country = (e: Event) => e.derived._geo_country ?? null;
export const path = (e: Event) => e.derived._path ?? null;
export const people = (events: readonly Event[]) => c.distinct(events.map(w.person));
export const by = (
  events: readonly Event[],
  keyOf: (e: Event) => readonly c.Cell[],
  measure: (own: Event[]) => c.Cell,
): Rows => c.groupBy(events, keyOf).map(([key, own]) => [...key, measure(own)]);
export const size = (own: readonly unknown[]) => own.length;
/** A row for each bucket. */
export const filled = (
  from: number,
  to: number,
  unit: c.Unit,
  zone: string,
  measure: (own: Event[]) => c.Cell,
  isWanted?: (e: Event) => boolean,
): Rows =>
  c
    .bucketsOf(from, to, unit, zone)
    .map((bucket) => [
      bucket,
      measure(within(from, to, isWanted).filter((e) => c.bucketOf(e.time, unit, zone) === bucket)),
    ]);

/** Events of each person, or of another value. */
export const own = (events: readonly Event[], keyOf: (e: Event) => string | null = w.person): Map<string, Event[]> =>
  new Map(
    c
      .groupBy(
        events.filter((e) => keyOf(e) !== null && keyOf(e) !== ''),
        (e) => [keyOf(e)],
      )
      .map(([[key], all]) => [String(key), all]),
  );
/** Events of the person of an event. */
export const ownCount = (e: Event, isOf: Is, from: number, to: number) =>
  w.person(e) === null ? [] : within(from, to, (o) => isOf(o) && w.person(o) === w.person(e));
