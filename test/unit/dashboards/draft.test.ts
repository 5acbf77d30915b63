// Drafts of documents that a form cannot change, or not in the usual way: each answers with the
// problems of the text, or refuses the change as a bad request.
import { describe, expect, test } from 'vitest';
import { type Draft, type DraftBody, draftBodySchema, draftTask } from '../../../src/dashboards/draft.js';
import { PublicError } from '../../../src/platform/errors.js';
import { CONTEXT } from './documents.js';

const CARD = '{id: c, title: T, kind: metric, viz: number, query: signup | count}';
const documentOf = (card = CARD): string => `version: 1\ntitle: t\nsections:\n- title: S\n  cards:\n  - ${card}\n`;
const WITH_INPUT = `${documentOf()}variables:\n  plan: {type: input, label: Plan}\n`;

const draft = (body: DraftBody): Draft =>
  draftTask.run({ draft: draftBodySchema.parse(body), context: CONTEXT }) as Draft;

const levels = ['a', 'b', 'c', 'd'].map((name, index) => {
  const items = `${index === 0 ? 'x' : `*${'abcd'[index - 1]}`},`.repeat(50);
  return `${name}: &${name} [${items}]\n`;
});

const BROKEN: readonly (readonly [string, string])[] = [
  ['an alias without an anchor', documentOf('{id: c, title: *none, kind: metric, viz: number, query: signup | count}')],
  ['an alias without an anchor in a variable', `${documentOf()}variables:\n  plan: {type: *none}\n`],
  ['an alias within itself', documentOf('&own {id: c, title: *own}')],
  ['an alias within itself in a variable', `${documentOf()}variables: &own\n  plan: {type: *own}\n`],
  ['aliases of aliases', levels.join('') + documentOf('{id: c, title: *d}')],
  ['aliases of aliases beside the sections', levels.join('') + documentOf()],
];

const INPUT = { type: 'input', label: 'L' } as const;
const CHANGES: readonly Partial<DraftBody>[] = [
  { section: { title: 'X' } },
  { section: { index: 0, title: 'Y' } },
  { variable: { new_name: 'other', variable: INPUT } },
  { variable: { name: 'plan', new_name: 'other', variable: INPUT } },
  { variable: { name: 'plan', variable: null } },
  { card: { id: 'c', title: 'New', kind: 'metric', viz: 'number' } },
  { remove: 'c' },
];

describe.each(BROKEN)('%s', (_what, source_yaml) => {
  test('is a problem of the text, whose other parts are shown', () => {
    const { problems, sections } = draft({ source_yaml });
    const messages = problems.map(({ message }) => message).join('\n');
    expect(messages).toMatch(/anchored as "none"|contains itself|aliases included/);
    expect(sections).toMatchObject([{ title: 'S', cards: [{ id: 'c' }] }]);
  });

  test.each(CHANGES)('is not changed by a form: %j', (change) => {
    expect(() => draft({ source_yaml, ...change })).toThrow(PublicError);
  });
});

test('an alias that can be resolved is no obstacle', () => {
  const source_yaml = `x: &title T\n${documentOf('{id: c, title: *title, kind: metric, viz: number, query: signup | count}')}`;
  const { sections, source_yaml: changed } = draft({ source_yaml, section: { index: 0, title: 'Y' } });
  expect(sections).toMatchObject([{ title: 'Y', cards: [{ id: 'c', title: 'T' }] }]);
  expect(changed).toBe(source_yaml.replace('title: S', 'title: Y'));
});

const WITH_ANCHOR = `${documentOf('{id: c, title: &t T, kind: metric, viz: number, query: signup | count}')}- title: Z
  cards:
  - {id: d, title: *t, kind: metric, viz: number, query: signup | count}
`;
const LOSES_ANCHOR: readonly Partial<DraftBody>[] = [
  { section: { index: 0, title: null } },
  { card: { id: 'c', title: 'New', kind: 'metric', viz: 'number' } },
  { remove: 'c' },
  { move: { card: 'c', section: 1, index: 1 } },
];

test.each(LOSES_ANCHOR)('a change that takes the anchor of an alias is refused: %j', (change) => {
  const refused = new PublicError(
    'bad_request',
    'a form cannot make this change: an alias (*name) would come before its anchor (&name), or lose it; edit the text',
  );
  expect(() => draft({ source_yaml: WITH_ANCHOR, ...change })).toThrow(refused);
  expect(draft({ source_yaml: WITH_ANCHOR, remove: 'd' }).problems).toEqual([]);
});

test('an anchor moves with its card as long as its aliases are behind it', () => {
  const { problems, sections } = draft({ source_yaml: WITH_ANCHOR, move: { card: 'c', section: 1, index: 0 } });
  expect([problems, sections.map(({ cards }) => cards.map(({ title }) => title))]).toEqual([[], [[], ['T', 'T']]]);
});

test.each(['', ' 3', ' [1]'])('the option%j is replaced by that of a form', (option) => {
  const source_yaml = `${documentOf()}variables:\n  plan:\n    type: select\n    label: Plan\n    options:\n    -${option}\n`;
  const wanted = { type: 'select', label: 'Plan', options: [{ value: 'a', label: 'A' }] } as const;
  const { variables } = draft({
    source_yaml,
    variable: { name: 'plan', variable: { ...wanted, options: [...wanted.options] } },
  });
  expect(variables).toMatchObject([{ name: 'plan', variable: wanted }]);
});

test('a variable is renamed with its placeholders', () => {
  const source_yaml = WITH_INPUT.replace('signup | count', '"signup | where _country = {{plan}} | count"');
  const { problems, source_yaml: changed } = draft({
    source_yaml,
    variable: { name: 'plan', new_name: 'tier', variable: { type: 'input', label: 'Plan' } },
  });
  expect([problems, changed]).toEqual([[], source_yaml.replaceAll('plan', 'tier')]);
});
