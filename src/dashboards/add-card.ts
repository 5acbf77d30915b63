// Adds a card to the text of a dashboard document, at the end of its last section. The rest of the
// text stays the same.
import { type Document, isMap, isSeq, stringify, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { cardSchema } from './config-schema.js';
import { type DashboardContext, type ParsedDashboard, parseDashboard } from './parse-dashboard.js';
import { SOURCE_BYTES_MAX } from './schema.js';
import { composeDocument } from './yaml-document.js';

export const newCardSchema = cardSchema.pick({ title: true, kind: true, viz: true }).extend({
  query: z.string({ error: 'is required: a query' }).min(1).max(16_384),
});
export type NewCard = z.infer<typeof newCardSchema>;

export function addCard(source: string, { title, query, ...card }: NewCard): string {
  const { document } = composeDocument(source);
  const added = { id: document === undefined ? '' : newIdOf(title, document), title, ...card, query: template(query) };
  return addCardTo(source, { section: undefined, added });
}

interface Addition {
  /** Index of the section; undefined: the last. */
  readonly section: number | undefined;
  readonly added: Added;
}

/** Throws where the cards of the section are no list in the text. */
export function addCardTo(source: string, { section, added }: Addition): string {
  const { document } = composeDocument(source);
  const sections = document?.get('sections');
  const chosen = isSeq(sections) ? sections.items.at(section ?? -1) : undefined;
  const cards = isMap(chosen) ? chosen.get('cards') : undefined;
  if (document === undefined || !isSeq(cards)) {
    const which = section === undefined ? 'the last section' : `section ${section + 1}`;
    throw new PublicError('bad_request', `the cards of ${which} are not a list in the text; edit the text`);
  }
  return insertBehind(source, cards, added) ?? appendTo(document, cards, added);
}

/** A query is no template: what looks like a placeholder in it is text. */
function template(query: string): string {
  if (!query.includes('{{')) return query;
  throw new PublicError('bad_request', 'the query contains {{, which begins a placeholder in a dashboard');
}

type Added = Readonly<Record<string, unknown>>;

/** Undefined where the list is not written with a dash at the beginning of a line. */
function insertBehind(source: string, { flow, items }: YAMLSeq, added: Added): string | undefined {
  const [first, last] = [items[0], items.at(-1)];
  if (flow || !isMap(first) || !isMap(last) || !first.range || !last.range) return undefined;
  const before = source.slice(source.lastIndexOf('\n', first.range[0] - 1) + 1, first.range[0]);
  if (!/^ *- +$/.test(before)) return undefined;
  const end = last.range[1];
  const newline = source[end - 1] === '\n' ? end - 1 : source.indexOf('\n', end);
  const at = newline === -1 ? source.length : newline + 1;
  const indent = ' '.repeat(before.indexOf('-'));
  const lines = stringify([added], { lineWidth: 0 }).replace(/^(?=.)/gm, indent);
  return `${source.slice(0, at)}${newline === -1 ? '\n' : ''}${lines}${source.slice(at)}`;
}

function appendTo(document: Document, cards: YAMLSeq, added: Added): string {
  cards.flow = false;
  cards.add(document.createNode(added));
  return document.toString({ lineWidth: 0 });
}

const ID_LENGTH_MAX = 40;

export function newIdOf(title: string, document: Document): string {
  const base = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, ID_LENGTH_MAX)
    .replace(/^-|-$/g, '');
  const text = document.toString();
  const isTaken = (id: string): boolean => new RegExp(`\\bid: *["']?${id}["']?\\s`).test(text);
  for (let count = 1; ; count++) {
    const id = `${base || 'card'}${count === 1 ? '' : `-${count}`}`;
    if (!isTaken(id)) return id;
  }
}

export interface CardRequest {
  readonly sourceYaml: string;
  readonly card: NewCard;
  readonly context: DashboardContext;
}

export const addCardTask: ThreadTask<CardRequest, ParsedDashboard & { readonly sourceYaml: string }> = {
  module: import.meta.url,
  name: 'addCardTask',
  run: ({ sourceYaml, card, context }) => {
    const changed = addCard(sourceYaml, card);
    if (Buffer.byteLength(changed) > SOURCE_BYTES_MAX) {
      throw new PublicError('too_large', `with the card, the document is longer than ${SOURCE_BYTES_MAX} bytes`);
    }
    return { ...parseDashboard(changed, context), sourceYaml: changed };
  },
  tooCostly: 'the dashboard takes more than {limit} to check; split it',
};
