// Resolves the fields that stand in `by`: those of rows, and cohorts, whose condition a definition
// has brought (definitions/expand.ts).
import { resolveCondition } from '../conditions/resolve.js';
import type { FieldName } from '../parse/syntax.js';
import { resolveField } from './resolve-field.js';
import type { ResolvedField } from './resolved.js';
import type { Scope } from './scope.js';

export function resolveGroupField(scope: Scope, name: FieldName): ResolvedField | undefined {
  if (name.cohort === undefined) return resolveField(scope, name);
  scope.selected.cohort = name;
  const { resolveCall } = scope.selected;
  const condition = resolveCondition({ ...scope, resolveCall }, name.cohort);
  return condition && { kind: 'cohort', name: name.written, condition };
}
