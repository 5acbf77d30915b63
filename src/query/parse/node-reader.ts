// Reads the small parts of the parser's tree: names, fields, durations. Incomplete parts are
// undefined, because their problems are reported from the error nodes of the tree.
import type { SyntaxNode } from '@lezer/common';
import { type QueryProblem, quote, type Span } from '../errors.js';
import { isDefined } from '../is-defined.js';
import { collapseBlanks, unquote } from './strings.js';
import type { Duration, FieldName, Text } from './syntax.js';

export const spanOf = (node: SyntaxNode): Span => ({ from: node.from, to: node.to });

/** Without comments, which may stand between any two. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name !== 'Comment') children.push(child);
  }
  return children;
}

export const firstChildOf = (node: SyntaxNode, names: readonly string[]): SyntaxNode | undefined =>
  childrenOf(node).find(({ name }) => names.includes(name));

/** The first error node in a subtree, its root included. */
export function findError(node: SyntaxNode): SyntaxNode | undefined {
  let found: SyntaxNode | undefined;
  node.cursor().iterate((at) => {
    if (found) return false;
    if (at.type.isError) found = at.node;
    return undefined;
  });
  return found;
}

/** The kinds of a table of the language by their node of the grammar. */
export const kindsByNode = <Kind extends string>(table: Readonly<Record<Kind, { readonly node: string }>>) =>
  new Map(Object.entries<{ readonly node: string }>(table).map(([kind, { node }]) => [node, kind as Kind]));

export class NodeReader {
  readonly problems: QueryProblem[] = [];

  constructor(private readonly text: string) {}

  slice({ from, to }: Span): string {
    return this.text.slice(from, to);
  }

  /** The text of a token, without quotes. */
  token(node: SyntaxNode | null): Text | undefined {
    if (!node || node.type.isError) return undefined;
    return { text: node.name === 'String' ? unquote(this.slice(node)) : this.slice(node), span: spanOf(node) };
  }

  /** A node of one token: its child when it may be quoted (EventName), else itself. */
  name(node: SyntaxNode | null): Text | undefined {
    return this.token(node?.firstChild ?? node);
  }

  field(node: SyntaxNode | null): FieldName | undefined {
    if (!node || node.getChild('⚠')) return undefined;
    const path = childrenOf(node)
      .map((token) => (token.name === 'String' ? unquote(this.slice(token)) : this.slice(token)))
      .join('');
    return { path, written: this.slice(node), span: spanOf(node) };
  }

  fieldsIn(node: SyntaxNode | null): FieldName[] {
    return (node?.getChildren('Field') ?? []).map((child) => this.field(child)).filter(isDefined);
  }

  /** `7d`, or `7 days`. */
  duration(node: SyntaxNode): Duration | undefined {
    const token = node.getChild('Duration') ?? node.getChild('SpacedDuration');
    if (!token || token.getChild('⚠')) return undefined;
    const text = collapseBlanks(this.slice(token));
    const match = /^(\d+) ?([a-zA-Z]+)$/.exec(text);
    if (match) return { amount: Number(match[1]), unit: match[2] ?? '', span: spanOf(token) };
    return this.refuse({
      message: `${quote(text)} is not a duration`,
      span: spanOf(token),
      hint: 'a duration is a whole number and a unit: 7d, or 7 days',
    });
  }

  /** Reported once, because every level above finds the same. */
  refuse(problem: QueryProblem): undefined {
    if (this.problems.length === 0) this.problems.push(problem);
    return undefined;
  }
}
