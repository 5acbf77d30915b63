// The text of a query without the values of its conditions, the id of `user` and comments, for
// records that may not name people.
import type { SyntaxNodeRef } from '@lezer/common';
import { parser } from '../../../grammar/parser.js';

const HIDDEN = '"…"';
/** Nodes with values. Their fields and operators stay. */
const VALUES: ReadonlySet<string> = new Set(['String', 'BareValue', 'Number', 'NegativeNumber', 'Moment', 'Duration']);

export function hideValues(text: string): string {
  const parts: string[] = [];
  let end = 0;
  const enter = (node: SyntaxNodeRef): void => {
    if (node.from < end || !isValue(node)) return;
    parts.push(text.slice(end, node.from), node.name === 'Comment' ? '' : HIDDEN);
    end = node.to;
  };
  parser.parse(text).iterate({ enter });
  return parts.join('') + text.slice(end);
}

function isValue({ name, node }: SyntaxNodeRef): boolean {
  if (name === 'Comment') return true;
  if (!VALUES.has(name)) return false;
  const parent = node.parent?.name;
  return parent === 'Comparison' || parent === 'ValueList' || parent === 'UserSource';
}
