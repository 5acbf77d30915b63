// Registry of post-processing: converts ClickHouse's rows for sources whose answer has other rows
// (choice results, fields).
import type { Presented } from '../cells.js';
import type { PostProcess } from '../plan/plan.js';
import { presentChoice } from './choice/present.js';
import { toFieldRows } from './fields/present.js';

type Kind = PostProcess['kind'];
type EngineRows = readonly (readonly unknown[])[];
type Presenter<K extends Kind> = (asked: Extract<PostProcess, { readonly kind: K }>, rows: EngineRows) => Presented;

const PRESENTERS: { readonly [K in Kind]: Presenter<K> } = {
  fields: ({ definitions }, rows) => ({ rows: toFieldRows(rows, definitions) }),
  choice: presentChoice,
};

export function present<K extends Kind>(
  asked: Extract<PostProcess, { readonly kind: K }>,
  rows: EngineRows,
): Presented {
  return PRESENTERS[asked.kind as K](asked, rows);
}
