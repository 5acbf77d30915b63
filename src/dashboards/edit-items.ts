// Makes the items of a list in the text those of a form, one by one: items that are not changed
// keep their spans, and those that are keep what the form does not show.
import { isDeepStrictEqual } from 'node:util';
import { isSeq } from 'yaml';
import { insertItem, type NodePath, removeItem, requireDocument, setField } from './splice.js';

type Item = Readonly<Record<string, unknown>>;

/** A field that an item of the form does not have is removed. */
export function setItems(source: string, list: NodePath, wanted: readonly object[]): string {
  let text = source;
  for (;;) {
    const items = itemsOf(text, list);
    if (items.length <= wanted.length) break;
    const index = items.findIndex((item, at) => !isDeepStrictEqual(item, wanted[at]));
    text = removeItem(text, [...list, index]);
  }
  for (const [index, item] of wanted.entries()) {
    const before = itemsOf(text, list)[index];
    if (before === undefined) {
      text = insertItem(text, { list, index }, item);
      continue;
    }
    if (!isItem(before)) {
      text = insertItem(removeItem(text, [...list, index]), { list, index }, item);
      continue;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(item)])) {
      text = setField(text, [...list, index], { key, value: (item as Item)[key] ?? null });
    }
  }
  return text;
}

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);

function itemsOf(source: string, list: NodePath): readonly unknown[] {
  const document = requireDocument(source);
  const node: unknown = document.getIn(list, true);
  return isSeq(node) ? (node.toJS(document) as unknown[]) : [];
}
