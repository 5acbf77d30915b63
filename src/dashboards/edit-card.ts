// Changes of a card in the text of a dashboard document: its fields, its queries, its place. The
// text is the only state; a form of the console edits it through here.
import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq } from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { addCardTo, newIdOf } from './add-card.js';
import { cardSchema } from './config-schema.js';
import { setItems } from './edit-items.js';
import { moveItem, type NodePath, removeItem, requireDocument, setField } from './splice.js';

const fields = cardSchema.pick({
  ...{ title: true, kind: true, viz: true, query: true, queries: true, markdown: true, layout: true },
});

/** Null removes a field; an absent one stays. */
export const cardChangeSchema = z.strictObject({
  id: z.string().max(63).optional().meta({ description: 'the card to change; absent for a new one' }),
  section: z.int().min(0).max(49).optional().meta({ description: 'where a new card is added; default: the last' }),
  title: fields.shape.title,
  kind: fields.shape.kind,
  viz: fields.shape.viz,
  query: fields.shape.query.unwrap().nullable().optional(),
  queries: fields.shape.queries.unwrap().nullable().optional(),
  markdown: fields.shape.markdown.unwrap().nullable().optional(),
  layout: fields.shape.layout.unwrap().nullable().optional(),
});
export type CardChange = z.infer<typeof cardChangeSchema>;

export const cardMoveSchema = z.strictObject({
  card: z.string().max(63).meta({ description: 'the id of the card' }),
  section: z.int().min(0).max(49),
  index: z.int().min(0).max(199).meta({ description: 'its place among the other cards of the section' }),
});
export type CardMove = z.infer<typeof cardMoveSchema>;

export function changeCard(source: string, { id, section, ...change }: CardChange): string {
  if (id === undefined) {
    const given = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
    const added = { id: newIdOf(change.title, requireDocument(source)), ...Object.fromEntries(given) };
    return addCardTo(source, { section, added });
  }
  const path = requireCard(source, id);
  const before = requireDocument(source).toJS().sections[path[1]].cards[path[3]];
  let text = source;
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined || isDeepStrictEqual(value, before[key])) continue;
    const isList = key === 'queries' && Array.isArray(value) && Array.isArray(before.queries);
    if (isList) text = setItems(text, [...path, key], value as object[]);
    else if (key === 'layout' && change.layout && before.layout) text = setLayout(text, [...path, key], change.layout);
    else text = setField(text, path, { key, value });
  }
  return text;
}

/** Field by field: a layout in lines keeps its lines and comments. */
function setLayout(source: string, path: NodePath, layout: NonNullable<CardChange['layout']>): string {
  const wide = setField(source, path, { key: 'w', value: layout.w ?? null });
  return setField(wide, path, { key: 'h', value: layout.h ?? null });
}

/** Its lines are removed. The last card of a section leaves an empty list. */
export const removeCard = (source: string, id: string): string => removeItem(source, requireCard(source, id));

export function moveCard(source: string, { card, section, index }: CardMove): string {
  const path = requireCard(source, card);
  const cards: unknown = requireDocument(source).getIn(['sections', section, 'cards'], true);
  if (!isSeq(cards)) throw new PublicError('bad_request', `the text has no section ${section + 1} with cards`);
  const others = cards.items.length - (path[1] === section ? 1 : 0);
  const place = Math.min(index, others);
  if (path[1] === section && path[3] === place) return source;
  return moveItem(source, path, { list: ['sections', section, 'cards'], index: place });
}

/** `sections`, its index, `cards`, its index. */
type CardPath = readonly [string, number, string, number];

function requireCard(source: string, id: string): CardPath {
  const sections: unknown = requireDocument(source).get('sections');
  if (isSeq(sections)) {
    for (const [at, section] of sections.items.entries()) {
      const cards = isMap(section) ? section.get('cards') : undefined;
      if (!isSeq(cards)) continue;
      const index = cards.items.findIndex((card) => isMap(card) && card.get('id') === id);
      if (index >= 0) return ['sections', at, 'cards', index];
    }
  }
  throw new PublicError('bad_request', `the text has no card "${id}"; it may have been renamed`);
}
