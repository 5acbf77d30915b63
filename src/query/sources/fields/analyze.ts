// Analyzer of the source `fields`.
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import type { EventSelection } from '../../analyze/resolved.js';
import type { Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import type { Definitions } from '../../definitions/definitions.js';

export interface FieldsQuery extends AnswerOrder {
  readonly kind: 'fields';
  readonly selection: EventSelection;
  /** What the project has defined, which is listed beside the fields. */
  readonly definitions: Definitions;
}

const COLUMNS = {
  columns: ['field', 'type', 'category', 'events', 'coverage'],
  ascending: ['field', 'type', 'category'],
  metric: 'events',
};

export const analyzeFields = (scope: Scope, _: object, stages: StageReader): FieldsQuery => ({
  kind: 'fields',
  selection: takeSelection(scope, stages),
  definitions: scope.definitions ?? [],
  ...takeAnswerOrder(scope, stages, COLUMNS),
});
