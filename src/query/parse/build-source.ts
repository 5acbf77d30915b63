// Converts the head of a query, its source, to a syntax node, as the folder of the source says.
import type { SyntaxNode } from '@lezer/common';
import { SOURCES } from '../sources/index.js';
import { kindsByNode, type NodeReader, spanOf } from './node-reader.js';
import type { Source, SourceKind } from './syntax.js';

const KIND_BY_NODE = kindsByNode<SourceKind>(SOURCES);

export function buildSource(reader: NodeReader, node: SyntaxNode): Source | undefined {
  const kind = KIND_BY_NODE.get(node.name);
  const parts = kind && SOURCES[kind].build(reader, node);
  return parts && ({ kind, ...parts, span: spanOf(node) } as Source);
}
