// Converts the head of a query, its source, to a syntax node.
import type { SyntaxNode } from '@lezer/common';
import { isDefined } from '../is-defined.js';
import { STAGE_NAMES } from '../language.js';
import { FORM_LIMITS } from '../limits.js';
import { buildCall, buildEventIn, buildEventsIn } from './build-condition.js';
import { childrenOf, type NodeReader, spanOf } from './node-reader.js';
import type { EventPattern, Expression, FormulaColumn, Source } from './syntax.js';

const NESTING_MAX = FORM_LIMITS.nesting.max;

export function buildSource(reader: NodeReader, node: SyntaxNode): Source | undefined {
  const span = spanOf(node);
  switch (node.name) {
    case 'AllSource':
      return { kind: 'all', span };
    case 'EventSource': {
      const event = buildEventIn(reader, node);
      const isLikeStage = STAGE_NAMES.includes(reader.slice(node));
      return event && { kind: 'event', event, ...(isLikeStage && { isLikeStage }), span };
    }
    case 'FunnelSource': {
      const exclude = node.getChild('Exclude');
      const steps = buildEventsIn(reader, node);
      return { kind: 'funnel', steps, exclude: exclude ? buildEventsIn(reader, exclude) : [], span };
    }
    case 'RetentionSource': {
      const start = buildEventIn(reader, node);
      const returning = node.getChild('Returning');
      return (
        start && {
          kind: 'retention',
          start,
          returning: returning ? buildReturning(reader, returning) : undefined,
          span,
        }
      );
    }
    case 'PathsSource': {
      const anchor = buildEventIn(reader, node);
      const direction = node.getChildren('Keyword').some((word) => reader.slice(word) === 'to') ? 'to' : 'from';
      return anchor && { kind: 'paths', direction, anchor, span };
    }
    case 'LifecycleSource':
    case 'StickinessSource':
    case 'InspectSource': {
      const event = buildEventIn(reader, node);
      return event && { kind: EVENT_SOURCES[node.name], event, span };
    }
    case 'UserSource': {
      const id = reader.token(node.getChild('String'));
      return id && { kind: 'user', id, span };
    }
    case 'FormulaSource': {
      const parts = node.getChildren('Column');
      const [first, ...others] = parts.map((part) => buildColumn(reader, part)).filter(isDefined);
      if (first === undefined || others.length + 1 < parts.length) return undefined;
      return { kind: 'formula', columns: [first, ...others], span };
    }
    case 'ChoiceSource': {
      const key = reader.name(node.getChild('EventName'));
      return key && { kind: 'choice', key, span };
    }
    case 'SessionsSource':
      return { kind: 'sessions', span };
    case 'UsersSource':
      return { kind: 'users', span };
    case 'FieldsSource':
      return { kind: 'fields', span };
    default:
      return undefined;
  }
}

/** `returning any` and `returning *` both mean any event; an event named any must be quoted. */
export function buildReturning(reader: NodeReader, node: SyntaxNode): EventPattern | undefined {
  const pattern = buildEventIn(reader, node);
  if (pattern === undefined || reader.slice(pattern.span) !== 'any') return pattern;
  return { ...pattern, matches: [{ name: undefined, condition: undefined, span: pattern.span }] };
}

function buildColumn(reader: NodeReader, node: SyntaxNode): FormulaColumn | undefined {
  const expression = node.firstChild ? buildExpression(reader, node.firstChild, 0) : undefined;
  return expression && { expression, alias: reader.name(node.getChild('Alias')), span: spanOf(node) };
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

const EVENT_SOURCES = {
  LifecycleSource: 'lifecycle',
  StickinessSource: 'stickiness',
  InspectSource: 'inspect',
} as const;
