// Pure modules of the screens Experiments and Data: set-ups in the URL, guessed goals, verdicts as
// sentences, lists of names.
import { describe, expect, test } from 'vitest';
import { type ChoiceResult, type DecisionStatus, verdictOf } from '../../../console/src/answer/choice-result.js';
import type { Answer } from '../../../console/src/api/answer.js';
import { matching, toEvents, toFields } from '../../../console/src/data/names.js';
import { formatSetup, guessGoal, parseSetup, resultsQuery } from '../../../console/src/experiments/setup.js';
import { isRunning, toSummaries } from '../../../console/src/experiments/summaries.js';
import { check } from '../../../console/src/language/language.js';
import { SOURCE_WORDS, sourceText } from '../../../console/src/language/names.js';
import { SOURCE_NAMES } from '../../../src/query/sources/index.js';

const answerOf = (rows: Answer['rows']): Answer => ({
  ...{ columns: Object.keys(rows[0] ?? {}), rows, total: rows.length, elapsed_ms: 1, rows_scanned: 1 },
  ...{ period: '2026-01-01T00:00:00Z/2026-02-01T00:00:00Z', mode: 'aggregate', metadata: {} },
});

describe('the set-up of an experiment', () => {
  const setup = parseSetup('');

  test.each([
    ['#goal=purchase', 'choice c | results purchase | last 30d | plan 10%'],
    ['#goal=only%3A+here&window=14d', 'choice c | results "only: here" | last 30d | window 14d | plan 10%'],
    [
      '#goal=p&measure=sum&property=price&range=last+7d&guard=error&guard=a%22b',
      'choice c | results sum(p, price) | last 7d | guard error, "a\\"b" | plan 10%',
    ],
    ['#goal=p&measure=avg', undefined],
    ['#goal=p&measure=wrong&range=last+9d&window=x&plan=off', 'choice c | results p | last 30d'],
  ])('%s makes the query %s', (fragment, q) => {
    const parsed = parseSetup(fragment);
    expect(resultsQuery('c', { ...parsed, goal: parsed.goal ?? '' })).toBe(q);
    expect(parseSetup(formatSetup(parsed))).toEqual(parsed);
    expect(q === undefined ? [] : check(q, 'UTC')).toEqual([]);
  });

  test('makes a valid query for keys with any character', () => {
    for (const key of ['a b', 'x|y', '1', 'results', '"', '#']) {
      expect(check(resultsQuery(key, { ...setup, goal: key }) ?? '', 'UTC'), key).toEqual([]);
    }
  });

  test.each([
    [['page_view', 'signup', 'purchase'], 'purchase'],
    [['page_view', 'signup', 'purchase_failed'], 'signup'],
    [['page_view', 'opened', 'closed', 'service.exposure'], 'closed'],
    [['page_view'], undefined],
  ])('guesses from %j the goal %s', (events, goal) => expect(guessGoal(events)).toBe(goal));
});

describe('verdictOf', () => {
  const result = (status: DecisionStatus, more: Partial<ChoiceResult> = {}): ChoiceResult => ({
    ...{ choice_key: 'c', conversion_event: 'p', decision_status: status, warnings: [] },
    variants: [
      { variant_key: 'control', exposures: 400, conversions: 40, rate: 0.1, ci_low: 0.07, ci_high: 0.13, weight: 1 },
      { variant_key: 'new', exposures: 410, conversions: 82, rate: 0.2, ci_low: 0.17, ci_high: 0.24, weight: 1 },
    ],
    comparisons: [
      {
        ...{
          control: 'control',
          treatment: 'new',
          absolute_lift: 0.1,
          relative_lift: 1,
          ci_low: 0,
          ci_high: 0,
          always_valid_p_value: 0.01,
        },
        ...{ sequential_ci_low: -0.012, sequential_ci_high: 0.17, probability_best: 0.99 },
      },
    ],
    diagnostics: {
      ...{ sample_ratio_p_value: 0.5, expected_ratios: { control: 0.5, new: 0.5 }, multi_variant_units: 0 },
      ...{ exposures_without_unit: 0, immature_units: 0, first_exposure_at: null, last_exposure_at: null },
    },
    method: { interval: 'wilson', test: '', sequential: '', alpha: 0.05 },
    ...more,
  });
  const plain = (text: string): string => text.replaceAll('\u202f', ' ');

  test.each<[DecisionStatus, string]>([
    ['treatment_better', '“new” is better than “control”: 20.0 % against 10.0 %, a difference of +10 points.'],
    ['control_better', '“control” is better than “new”: 20.0 % against 10.0 %, a difference of +10 points.'],
    ['inconclusive', 'No difference is proven: “new” is between -1.2 and +17 points of “control”.'],
    ['collecting', 'Too early to say: “control” has 400 people and 40 conversions so far.'],
    [
      'invalid',
      'The result is not valid: the units (400 “control”, 410 “new”) are not split as the weights say (50.0 % to 50.0 %).',
    ],
  ])('states %s with its numbers', (status, sentence) => {
    const of = result(status);
    const turned = { ...of, variants: of.variants.map((variant) => ({ ...variant, rate: 0.3 - (variant.rate ?? 0) })) };
    const losing = { ...turned, comparisons: of.comparisons.map((each) => ({ ...each, absolute_lift: -0.1 })) };
    expect(plain(verdictOf(status === 'control_better' ? losing : of))).toBe(sentence);
  });

  test('states means for results of a value, and the treatment that decided', () => {
    const of = result('treatment_better');
    const [first] = of.comparisons;
    if (first === undefined) throw new Error('no comparison');
    const others = { ...first, treatment: 'undecided', absolute_lift: 0.5, always_valid_p_value: 0.2 };
    const value = result('treatment_better', {
      comparisons: [others, first],
      method: { ...of.method, value: 'sum(p, price)' },
    });
    expect(verdictOf(value)).toBe('“new” is better than “control”: 0.2 against 0.1, a difference of +0.1.');
  });
});

describe('experiments of a project', () => {
  const KEY = 'event_properties.choice_key';
  const summaries = toSummaries(
    answerOf([
      { [KEY]: 'old', 'event_properties.variant_key': 'b', unique_count: 3 },
      { [KEY]: 'new', 'event_properties.variant_key': 'a', unique_count: 5 },
      { [KEY]: 'new', 'event_properties.variant_key': 'control', unique_count: 4 },
      { [KEY]: null, 'event_properties.variant_key': 'a', unique_count: 1 },
    ]),
    answerOf([
      { day: '2026-01-01', [KEY]: 'old', count: 3 },
      { day: '2026-01-20', [KEY]: 'new', count: 9 },
    ]),
  );

  test('are sorted latest first, with the control as first variant', () => {
    expect(summaries.map(({ key, people }) => [key, people])).toEqual([
      ['new', 9],
      ['old', 3],
    ]);
    expect(summaries[0]?.variants.map(({ key }) => key)).toEqual(['control', 'a']);
  });

  test('count as running while exposures arrive', () => {
    const now = Date.parse('2026-01-22T12:00:00Z');
    expect(summaries.map((summary) => isRunning(summary, now))).toEqual([true, false]);
  });
});

describe('names of a project', () => {
  const catalog = {
    complete: true,
    events: [
      { event_type: 'a', count: 9 },
      { event_type: 'gone', count: 2 },
    ],
    properties: [{ field: 'event_properties.old', types: ['string'] }],
    profile: [{ field: 'user.plan', types: ['string'] }],
  };

  test('list earlier events after those of the last days', () => {
    const events = toEvents(catalog, answerOf([{ event_type: 'a', count: 4, users: 2, last_seen: '2026-01-01' }]));
    expect(events.map(({ name, count }) => [name, count])).toEqual([
      ['a', 4],
      ['gone', 0],
    ]);
    expect(matching(events, ' GO ').map(({ name }) => name)).toEqual(['gone']);
  });

  test('list event properties before other fields', () => {
    const listed = [
      { field: 'session.duration', type: 'number', category: 'session', events: null, coverage: null },
      { field: '_country', type: 'string', category: 'geo', events: 4, coverage: 40 },
      { field: 'user.plan', type: 'string', category: 'profile', events: null, coverage: null },
      { field: 'event_properties.b', type: 'number', category: 'event_properties', events: 1, coverage: 10 },
    ];
    expect(toFields(catalog, answerOf(listed)).map(({ name, coverage }) => [name, coverage])).toEqual([
      ['event_properties.b', 10],
      ['event_properties.old', 0],
      ['user.plan', undefined],
      ['_country', 40],
      ['session.duration', undefined],
    ]);
  });

  test('list a property whose key is quoted once', () => {
    const properties = ['Button Name', 'a:b', '1st', 'old name'].map((key) => ({
      field: `event_properties.${key}`,
      types: ['string'],
    }));
    const listed = ['"Button Name"', '"a:b"', '1st'].map((key) => ({
      ...{ field: `event_properties.${key}`, type: 'string', category: 'event_properties', events: 1, coverage: 10 },
    }));
    expect(toFields({ ...catalog, properties, profile: [] }, answerOf(listed)).map(({ name }) => name)).toEqual([
      ...listed.map(({ field }) => field),
      'event_properties."old name"',
    ]);
  });

  test('are quoted at the start of a query when they are source keywords', () => {
    expect([...SOURCE_WORDS].sort()).toEqual([...SOURCE_NAMES].sort());
    expect([sourceText('users'), sourceText('signup'), sourceText('a b')]).toEqual(['"users"', 'signup', '"a b"']);
  });
});
