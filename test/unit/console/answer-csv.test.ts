// The CSV that the console writes of the answer it shows, against that of the service.
import { expect, test } from 'vitest';
import type { Answer } from '../../../console/src/api/answer.js';
import { toCsv } from '../../../console/src/ask/answer-csv.js';
import { formatCsv } from '../../../src/query/csv.js';
import type { ColumnType } from '../../../src/query/plan/plan.js';
import { formatJson } from '../../../src/query-api/formats/json.js';
import { anAnswer } from '../query-api/answers.js';

test.each<[mode: string, type: ColumnType]>([
  ['aggregate', 'text'],
  ['paths', 'path'],
])('has the bytes of format csv in mode %s', (mode, type) => {
  const cells = [
    ['a', 'b, c'],
    [],
    '=1+1',
    '-5',
    -5,
    0.1,
    1e21,
    true,
    null,
    '',
    { b: 1, a: '"x"' },
    'two\nlines; three',
  ];
  const answer = anAnswer({
    ...{ mode, metric: undefined, total: cells.length },
    columns: [
      { name: '__proto__', type },
      { name: '@n', type: 'number' },
    ],
    rows: cells.map((cell, n) => [cell, n]),
  });
  expect(toCsv(JSON.parse(formatJson(answer)) as Answer)).toBe(formatCsv(answer));
});
