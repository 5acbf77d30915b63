// Statements of queries at the limits of their forms and of their text: within what ClickHouse
// accepts over HTTP, whatever the types of properties are.
import { describe, expect, test } from 'vitest';
import { QUERY_BYTES_MAX } from '../../../src/query/limits.js';
import { compileWith } from '../../unit/query/compiling.js';
import { FORMS_AT_LIMITS, FULL_TEXTS } from '../../unit/query/forms.js';

// http_max_fields of ClickHouse is 1,000, of which settings are about 30; http_max_field_value_size
// is 128 KiB, for the statement too where it is sent as a field.
const PARAMETERS_MAX = 600;
const VALUE_BYTES_MAX = 100 * 1024;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('a statement at the limits', () => {
  test.each(Object.entries({ ...FORMS_AT_LIMITS, ...FULL_TEXTS }))(
    'stays within the HTTP limits of ClickHouse: %s',
    (_, text) => {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(QUERY_BYTES_MAX);
      for (const guess of ['text', 'number', 'anything'] as const) {
        const { statement, countStatement } = compileWith(text, guess);
        for (const { sql, params } of [statement, countStatement ?? statement]) {
          const values = Object.values(params);
          expect(values.length).toBeLessThan(PARAMETERS_MAX);
          expect(Buffer.byteLength(sql)).toBeLessThan(VALUE_BYTES_MAX);
          expect(Math.max(0, ...values.map(bytesOf))).toBeLessThan(VALUE_BYTES_MAX);
        }
      }
    },
  );
});
