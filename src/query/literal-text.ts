// Text form of a literal, used in comparisons with texts, ids and groups.
import { assertNever } from '../platform/errors.js';
import type { Literal } from './analyze/resolved.js';

export function textOf(value: Literal): string {
  switch (value.kind) {
    case 'text':
    case 'number':
      return value.text;
    case 'boolean':
      return String(value.value);
    case 'instant':
      return new Date(value.ms).toISOString();
    default:
      return assertNever(value);
  }
}
