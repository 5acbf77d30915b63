// Type of a source's row in the registry (sources/index.ts): name, example, default range, parser
// and analyzer.
import type { SyntaxNode } from '@lezer/common';
import type { Scope } from '../analyze/scope.js';
import type { StageReader } from '../analyze/stage-reader.js';
import type { Span } from '../errors.js';
import type { NameRow } from '../language.js';
import type { NodeReader } from '../parse/node-reader.js';

export interface SourceRow<Parts, Resolved> extends NameRow {
  /** Its name in errors about stages; its word, when left out. */
  readonly name?: string;
  /** Length of the default time range. */
  readonly days: number;
  /**
   * What its answer consists of, for errors about stages that would change it: "answers users by
   * path".
   */
  readonly answers?: string;
  /** Columns of its own that answers have, for hints of unknown names. */
  readonly columns?: readonly string[];
  /** Values of `mode` in answers. */
  readonly modes: readonly string[];
  /** Reads the node of the grammar; undefined, when it is incomplete, which is reported already. */
  readonly build: (reader: NodeReader, node: SyntaxNode) => Parts | undefined;
  /** Takes all its stages from the reader: those that are left are reported as not fitting. */
  readonly analyze: (
    scope: Scope,
    source: Parts & { readonly span: Span },
    stages: StageReader,
  ) => Resolved | undefined;
}

/** Infers the types of a row. */
export const defineSource = <Parts extends object, Resolved>(row: SourceRow<Parts, Resolved>) => row;
