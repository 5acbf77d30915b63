// The text form of a literal, which is what texts, ids and groups are compared with.
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
