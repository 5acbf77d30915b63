import { describe, expect, test } from 'vitest';
import { type CompiledQuery, compile } from '../../../src/query/compile.js';
import { CompileWork, TooMuchText } from '../../../src/query/compile-work.js';
import { CONTEXT, define } from './compiling.js';

const DEFINED = [
  define('event', 'activated', '(signup, first_export[rows > 0])'),
  define('event', 'deep', '(activated[plan = "pro"], buy)'),
  define('event', 'broken', 'signup[_contry = "DE"]'),
  define('cohort', 'power', '* | where count(buy last 30d) >= 5'),
  define('cohort', 'recent', '* | where count(buy last 30m) >= 1'),
  define('cohort', 'payers', '* | where cohort.power = true and not user.plan = "free"'),
  define('metric', 'activation', 'formula unique(activated) / unique(signup)'),
  define('metric', 'revenue', 'buy | where user.plan != "test" | sum price'),
  define('metric', 'german', 'metric revenue | where _country = "DE"'),
  define('metric', 'large', 'metric german | where value > 100'),
];

const ask = (text: string): CompiledQuery => compile(text, { ...CONTEXT, definitions: DEFINED });
const statementOf = (text: string) => ask(text).statement;

const ACTIVATED = '(signup, first_export[rows > 0])';
const POWER = 'count(buy last 30d) >= 5';

describe('a query with a definition is the query with its text', () => {
  test.each<[string, string]>([
    ['activated | count by day', `${ACTIVATED} | count by day`],
    ['activated[_path = "/"] | unique', '(signup[_path = "/"], first_export[rows > 0 and _path = "/"]) | unique'],
    ['(activated, buy) | count by event_type', '(signup, first_export[rows > 0], buy) | count by event_type'],
    ['deep | list', '(signup[plan = "pro"], first_export[rows > 0 and plan = "pro"], buy) | list'],
    ['lifecycle activated by week', `lifecycle ${ACTIVATED} by week`],
    ['stickiness activated', `stickiness ${ACTIVATED}`],
    [
      'retention activated returning deep',
      `retention ${ACTIVATED} returning (signup[plan = "pro"], first_export[rows > 0 and plan = "pro"], buy)`,
    ],
    ['inspect activated', `${ACTIVATED.replace('(', 'inspect (')}`],
    ['* | where count(activated last 7d) > 2 | count', `* | where count(${ACTIVATED} last 7d) > 2 | count`],
    ['users | where count(activated) > 2', `users | where count(${ACTIVATED}) > 2`],
    ['* | where cohort.power = true | count', `* | where ${POWER} | count`],
    ['* | where cohort.power = false | count', `* | where not ${POWER} | count`],
    ['* | where cohort.power != true | count', `* | where not ${POWER} | count`],
    ['* | where cohort.payers in (true) | count', `* | where ${POWER} and not user.plan = "free" | count`],
    // `m` is months in a retention, and minutes in a cohort wherever it is used.
    ['retention signup | where cohort.recent = true', 'retention signup | where count(buy last 30 minutes) >= 1'],
    ['users | where cohort.payers = true', `users | where ${POWER} and not user.plan = "free"`],
    ['metric activation', `formula unique(${ACTIVATED}) / unique(signup)`],
    [
      'metric activation | last 28d | by week | compare previous',
      `formula unique(${ACTIVATED}) / unique(signup) | last 28d | by week | compare previous`,
    ],
    ['metric revenue by day', 'buy | where user.plan != "test" | sum price by day'],
    [
      'metric german | by day, _platform | where total > 3 | top 3',
      'buy | where user.plan != "test" | where _country = "DE" | sum price by day, _platform | where total > 3 | top 3',
    ],
    [
      'metric revenue | last 7d | compare previous | sort change | limit 5',
      'buy | where user.plan != "test" | last 7d | compare previous | sum price | sort change | limit 5',
    ],
    [
      'metric large | last 7d | by day | where total < 900',
      'buy | where user.plan != "test" | where _country = "DE" | last 7d | sum price | where total > 100 | by day | where total < 900',
    ],
    ['metric revenue | where total > 3', 'buy | where user.plan != "test" | sum price | where total > 3'],
    [
      'metric revenue | where value > 3 | by day',
      'buy | where user.plan != "test" | sum price by day | where total > 3',
    ],
    [
      'metric revenue | where _platform = "web" | compare previous | where change < 0',
      'buy | where user.plan != "test" and _platform = "web" | sum price | compare previous | where change < 0',
    ],
    [
      'metric activation | where value > 0.5 | by week',
      `formula unique(${ACTIVATED}) / unique(signup) | by week | where value > 0.5`,
    ],
    [
      'metric revenue | where _platform = "web" | last 3d',
      'buy | where user.plan != "test" | where _platform = "web" | last 3d | sum price',
    ],
  ])('%s', (short, long) => {
    // `inspect` takes one event only, so its text is compared with that of an event.
    if (long.startsWith('inspect (')) return expect(statementOf(short).sql).toContain('event_type IN');
    expect(statementOf(short)).toEqual(statementOf(long));
  });

  test('an event has its own name in steps, and the definitions used are said', () => {
    const { statement, definitions } = ask('funnel deep -> activated | last 30d');
    expect(Object.values(statement.params)).toContainEqual(['deep', 'activated']);
    expect(definitions.map(({ name }) => name)).toEqual(['deep', 'activated']);
    expect(ask('signup | count').definitions).toEqual([]);
  });

  test('results of an experiment take a defined event', () => {
    const { sql } = statementOf('choice button | results activated');
    expect(sql).toContain('ep_num');
    expect(ask('choice button | results activated').definitions).toHaveLength(1);
  });
});

describe('problems with definitions', () => {
  const problemsOf = (text: string) => {
    try {
      compile(text, { ...CONTEXT, definitions: DEFINED, suggestsFixes: true });
      return [];
    } catch (error) {
      return (error as { details: { message: string; column: number; length: number; fix?: { text: string } }[] })
        .details;
    }
  };

  test.each<[string, string, number, number, string | undefined]>([
    ['metric activatoin', 'no metric "activatoin" is defined', 8, 10, 'activation'],
    ['* | where cohort.powr = true', 'no cohort "powr" is defined', 11, 11, 'cohort.power'],
    ['* | where cohort.power = 3', 'cohort.power is compared with true or false', 26, 1, undefined],
    ['* | where cohort.power exists', 'exists does not fit cohort.power', 24, 6, undefined],
    ['metric revenue | count', 'count does not fit metric revenue', 18, 5, undefined],
    ['metric revenue | list', 'list does not fit metric revenue', 18, 4, undefined],
    [
      'funnel signup -> broken',
      'in the event broken (line 3 of the definitions): unknown field "_contry"',
      18,
      6,
      undefined,
    ],
    [
      'signup[cohort.power = true] | count',
      'in the cohort power (line 3 of the definitions): count(…) does not fit',
      8,
      12,
      undefined,
    ],
    ['metric', 'metric is not complete', 7, 0, undefined],
    ['* | count by cohort.powr', 'no cohort "powr" is defined', 14, 11, 'cohort.power'],
    ['sessions | count by cohort.power', 'by cohort.power does not fit sessions', 21, 12, undefined],
    ['| latest _path per user_id | count by cohort.power', 'by cohort.power does not fit', 39, 12, undefined],
    ['paths from a | by cohort.power, cohort.payers', 'by has "cohort.power" already', 33, 13, undefined],
    ['lifecycle a | by _country', 'by _country does not fit lifecycle', 18, 8, undefined],
    ['* | list cohort.power', '"cohort.power" does not fit here', 10, 12, undefined],
    ['* | sum cohort.power', '"cohort.power" does not fit here', 9, 12, undefined],
    ['formula unique(a, cohort.power)', '"cohort.power" does not fit here', 19, 12, undefined],
    ['* | count by day | sort constructor', 'the answer has no column "constructor" to sort by', 25, 11, undefined],
  ])('%s', (text, message, column, length, fix) => {
    const [problem, ...others] = problemsOf(text);
    expect(problem).toMatchObject({ column, length });
    expect(problem?.message).toContain(message);
    expect(problem?.fix?.text).toBe(fix);
    expect(others).toEqual([]);
  });
});

describe('definitions bring a bounded amount of text into a query', () => {
  const values = Array.from({ length: 500 }, (_, index) => `"v${index}"`).join(', ');
  const hostile = [
    define('event', 'many', `(${Array.from({ length: 60 }, (_, index) => `e${index}`).join(', ')})`),
    define('event', 'more', '(many, many)'),
    define('event', 'listed', `a[plan in (${values})]`),
    define('cohort', 'listed', `* | where user.plan in (${values})`),
    define('cohort', 'wide', `* | where ${'user.plan = "x" or '.repeat(70)}user.plan = "y"`),
    define(
      'cohort',
      'wider',
      `* | where ${Array.from({ length: 65 }, (_, index) => `user.k${index % 30} > ${index}`).join(' or ')}`,
    ),
    ...['user.plan = "x"', 'cohort.deep_0 = true', 'cohort.deep_1 = true'].map((inner, index) =>
      define('cohort', `deep_${index}`, `* | where ${'not ('.repeat(30)}${inner}${')'.repeat(30)}`),
    ),
  ];
  const ask = (text: string, work?: CompileWork) =>
    compile(text, { ...CONTEXT, definitions: hostile, ...(work && { work }) });
  const problemOf = (text: string): string => {
    try {
      ask(text);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  test.each<[string, string, RegExp]>([
    [
      'characters',
      `funnel ${Array(6).fill('listed').join(' -> ')}`,
      /with the text of the event listed, .* 16384 characters/,
    ],
    ['events', 'more | count', /the event more is one of 120 events; the limit is 100/],
    ['events with conditions', '(more[plan = "x"], more[plan = "y"]) | count', /the event more is one of 120 events/],
    [
      'conditions',
      '* | where cohort.wider = true',
      /in the cohort wider \(line 3 .* has 65 conditions; the limit is 64/,
    ],
    ['conditions of a group', '* | count by cohort.wider', /in the cohort wider .* has 65 conditions; the limit is 64/],
    ['nesting', '* | where cohort.deep_2 = true', /in the cohort deep_2 .* nested deeper than 64 levels/],
  ])('%s', (_what, text, message) => expect(problemOf(text)).toMatch(message));

  test('what a written query may have is answered', () => {
    const texts = [
      'many | count',
      '* | where cohort.wide = true',
      '* | count by cohort.wide',
      '* | where cohort.deep_1 = true',
    ];
    for (const text of [...texts, 'funnel listed -> listed -> listed']) expect(problemOf(text)).toBe('');
  });

  test('above the length that is compiled here, a compilation ends', () => {
    const { length } = hostile[2]?.query ?? '';
    expect(() => ask('funnel listed -> listed', new CompileWork(2 * length - 1))).toThrow(TooMuchText);
    expect(() => ask('funnel listed -> listed', new CompileWork(2 * length))).not.toThrow();
  });
});
