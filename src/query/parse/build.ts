// Converts the parser's tree to syntax nodes: a query is its source and its stages. Incomplete
// parts are skipped, because their problems are reported.
import type { SyntaxNode } from '@lezer/common';
import type { QueryProblem } from '../errors.js';
import { buildSource } from './build-source.js';
import { buildStage } from './build-stage.js';
import { childrenOf, NodeReader, spanOf } from './node-reader.js';
import type { Query, Stage } from './syntax.js';

export interface Built {
  readonly query: Query;
  /** Problems that the grammar does not know: nesting that is too deep. */
  readonly problems: readonly QueryProblem[];
}

export function buildQuery(text: string, top: SyntaxNode): Built {
  const reader = new NodeReader(text);
  const stages: Stage[] = [];
  let source: Query['source'];
  for (const node of childrenOf(top)) {
    if (node.name === '|') continue;
    if (node.name.endsWith('Source')) source = buildSource(reader, node) ?? 'broken';
    else if (node.type.isError && stages.length === 0 && !source) source = 'broken';
    else stages.push(buildStage(reader, node) ?? { kind: 'broken', span: spanOf(node) });
  }
  // Whether conditions behind a broken formula name its columns is unknown.
  const isOfColumns = source === 'broken' && top.getChild('FormulaSource') !== null;
  const kept = isOfColumns ? stages.filter(({ kind }) => kind !== 'where') : stages;
  return { query: { source, stages: kept }, problems: reader.problems };
}
