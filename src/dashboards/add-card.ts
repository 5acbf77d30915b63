// Adds a card to the text of a dashboard document, at the end of its last section. The rest of the
// text stays the same.
import { type Document, isNode, isScalar, isSeq, visit } from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { cardSchema } from './config-schema.js';
import { type ChangedText, parseChanged } from './parse-changed.js';
import type { DashboardContext } from './parse-dashboard.js';
import { insertItem, requireDocument } from './splice.js';

export const newCardSchema = cardSchema.pick({ title: true, kind: true, viz: true }).extend({
  query: z.string({ error: 'is required: a query' }).min(1).max(16_384),
});
export type NewCard = z.infer<typeof newCardSchema>;

function addCard(source: string, { title, query, ...card }: NewCard): string {
  const added = { id: newIdOf(title, requireDocument(source)), title, ...card, query: template(query) };
  return addCardTo(source, { section: undefined, added });
}

interface Addition {
  /** Index of the section; undefined: the last. */
  readonly section: number | undefined;
  readonly added: Readonly<Record<string, unknown>>;
}

/** Throws where the cards of the section are no list in the text. */
export function addCardTo(source: string, { section, added }: Addition): string {
  const document = requireDocument(source);
  const sections: unknown = document.get('sections');
  const at = section ?? (isSeq(sections) ? sections.items.length - 1 : 0);
  const list = ['sections', at, 'cards'];
  const cards: unknown = document.getIn(list, true);
  if (!isSeq(cards)) {
    const which = section === undefined ? 'the last section' : `section ${section + 1}`;
    throw new PublicError('bad_request', `the cards of ${which} are not a list in the text; edit the text`);
  }
  return insertItem(source, { list, index: cards.items.length }, added);
}

/** A query is no template: what looks like a placeholder in it is text. */
function template(query: string): string {
  if (!query.includes('{{')) return query;
  throw new PublicError('bad_request', 'the query contains {{, which begins a placeholder in a dashboard');
}

const ID_LENGTH_MAX = 40;

export function newIdOf(title: string, document: Document): string {
  const base = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, ID_LENGTH_MAX)
    .replace(/^-|-$/g, '');
  const taken = new Set<unknown>();
  visit(document, {
    Pair: (_, { key, value }) => {
      if (isScalar(key) && key.value === 'id' && isNode(value)) taken.add(value.toJS(document));
    },
  });
  for (let count = 1; ; count++) {
    const id = `${base || 'card'}${count === 1 ? '' : `-${count}`}`;
    if (!taken.has(id)) return id;
  }
}

export interface CardRequest {
  readonly sourceYaml: string;
  readonly card: NewCard;
  readonly context: DashboardContext;
}

export const addCardTask: ThreadTask<CardRequest, ChangedText> = {
  module: import.meta.url,
  name: 'addCardTask',
  run: ({ sourceYaml, card, context }) => parseChanged(addCard(sourceYaml, card), 'card', context),
  tooCostly: 'the dashboard takes more than {limit} to check; split it',
};
