// Converts the columns of a formula to syntax nodes.
import type { SyntaxNode } from '@lezer/common';
import { isDefined } from '../../is-defined.js';
import { FORM_LIMITS } from '../../limits.js';
import { buildCall } from '../../parse/build-condition.js';
import { childrenOf, findError, type NodeReader, spanOf } from '../../parse/node-reader.js';
import { collapseBlanks } from '../../parse/strings.js';
import type { Expression, FormulaColumn } from '../../parse/syntax.js';
import type { FormulaSource } from './analyze.js';

const NESTING_MAX = FORM_LIMITS.nesting.max;

export function buildFormula(reader: NodeReader, node: SyntaxNode): FormulaSource | undefined {
  // Of a part that cannot be read, the names of columns are unknown.
  if (findError(node)) return undefined;
  const parts = node.getChildren('Column');
  const [first, ...others] = parts.map((part) => buildColumn(reader, part)).filter(isDefined);
  if (first === undefined || others.length + 1 < parts.length) return undefined;
  return { columns: [first, ...others] };
}

function buildColumn(reader: NodeReader, node: SyntaxNode): FormulaColumn | undefined {
  const [first] = childrenOf(node);
  const expression = first && buildExpression(reader, first, 0);
  const written = first ? collapseBlanks(reader.slice(first)) : '';
  return expression && { expression, alias: reader.name(node.getChild('Alias')), written, span: spanOf(node) };
}

function buildExpression(reader: NodeReader, node: SyntaxNode, depth: number): Expression | undefined {
  if (depth > NESTING_MAX) {
    return reader.refuse({
      message: `the formula has more than ${NESTING_MAX} operations in a row`,
      span: { from: node.from, to: node.from + 1 },
      hint: 'split it into several queries',
    });
  }
  const span = spanOf(node);
  const operands = childrenOf(node);
  const operand = (index: number): Expression | undefined => {
    const child = operands[index];
    return child && buildExpression(reader, child, depth + 1);
  };
  switch (node.name) {
    case 'Number':
      return { kind: 'number', value: Number(reader.slice(node)), span };
    case 'Group':
      return operand(1);
    case 'Negative': {
      const inner = operand(1);
      return inner && { kind: 'negative', operand: inner, span };
    }
    case 'Binary': {
      const [left, right] = [operand(0), operand(2)];
      const operator = operands[1] && OPERATORS.get(reader.slice(operands[1]));
      return left && right && operator && { kind: 'binary', operator, left, right, span };
    }
    case 'Call': {
      const call = buildCall(reader, node);
      return call && { kind: 'call', ...call };
    }
    default:
      return undefined;
  }
}

const OPERATORS: ReadonlyMap<string, '+' | '-' | '*' | '/'> = new Map([
  ['+', '+'],
  ['-', '-'],
  ['*', '*'],
  ['/', '/'],
]);
