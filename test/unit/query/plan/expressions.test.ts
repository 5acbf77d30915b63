// Expressions of a plan: partsOf() walks every kind, and devices are joined only if an expression
// reads them.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../../src/platform/ids.js';
import { scanWithDevices } from '../../../../src/query/people/devices.js';
import {
  alias,
  column,
  constant,
  type Expression,
  element,
  lambda,
  list,
  mapped,
  partsOf,
  rowsOf,
  tupleElement,
} from '../../../../src/query/plan/expressions.js';
import { fn } from '../../../../src/query/plan/functions.js';
import { select } from '../../../../src/query/plan/plan.js';

const user = mapped('user_hash');

const NESTED: Readonly<Record<string, Expression>> = {
  call: fn.if(constant(1), user, constant(0)),
  operands: { kind: 'infix', operator: '+', operands: [constant(1), user] },
  list: list([constant(1), user]),
  lambda: fn.arrayMap(
    lambda(['v'], () => user),
    alias('a'),
  ),
  element: element(user, constant(1)),
  'position of an element': element(alias('a'), user),
  'element of a tuple': tupleElement(user, 1),
};

test.each(Object.entries(NESTED))('partsOf() finds a column inside of %s', (_, expression) => {
  expect([...partsOf([expression])]).toContain(user);
});

test('partsOf() does not enter another select', () => {
  const other = rowsOf(select({ columns: { it: user }, from: undefined }));
  expect([...partsOf([other])]).toEqual([other]);
});

test('scanWithDevices() joins devices only if an expression reads them', () => {
  const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
  const columnsOf = (...reads: Expression[]) => {
    const time = { kind: 'exact', ranges: [] } as const;
    const { joins } = scanWithDevices({ projectId, time, filter: [], reads });
    return joins.map(({ step }) => (step.rows.kind === 'select' ? Object.keys(step.rows.columns) : []));
  };
  expect(columnsOf(column('user_hash'))).toEqual([]);
  expect(columnsOf(fn.max(user))).toEqual([['mapped_device_hash', 'mapped_user_hash']]);
  expect(columnsOf(fn.max(mapped('user_id')))).toEqual([['mapped_device_hash', 'mapped_user_hash', 'mapped_user_id']]);
});
