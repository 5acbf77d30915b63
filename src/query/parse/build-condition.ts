// Converts conditions, and the events and calls that hold conditions, to syntax nodes.
import type { SyntaxNode } from '@lezer/common';
import { isDefined } from '../is-defined.js';
import { FORM_LIMITS } from '../limits.js';
import { childrenOf, firstChildOf, type NodeReader, spanOf } from './node-reader.js';
import { tooDeep } from './scan.js';
import { collapseBlanks, unquote } from './strings.js';
import type { Call, Condition, EventMatch, EventPattern, Value } from './syntax.js';

/** Bounds the recursion of every later stage. */
const NESTING_MAX = FORM_LIMITS.nesting.max;

const CONDITION_NODES = ['And', 'Or', 'Not', 'Group', 'Comparison'];
const EVENT_NODES = ['Event', 'AnyOf', 'Star', 'EventName'];

/** The condition in a `Where` or a `Filter`. */
export function buildConditionIn(reader: NodeReader, node: SyntaxNode): Condition | undefined {
  const operand = firstChildOf(node, CONDITION_NODES);
  return operand && buildCondition(reader, operand, 0);
}

function buildCondition(reader: NodeReader, node: SyntaxNode, depth: number): Condition | undefined {
  if (depth > NESTING_MAX) return reader.refuse(tooDeep({ from: node.from, to: node.from + 1 }));
  switch (node.name) {
    case 'And':
    case 'Or':
      return buildChain(reader, node, depth);
    case 'Group': {
      const inner = childrenOf(node)[1];
      return inner && buildCondition(reader, inner, depth + 1);
    }
    case 'Not': {
      const inner = childrenOf(node)[1];
      const item = inner && buildCondition(reader, inner, depth + 1);
      return item && { kind: 'not', item, span: spanOf(node) };
    }
    case 'Comparison':
      return buildComparison(reader, node);
    default:
      return undefined;
  }
}

function buildChain(reader: NodeReader, node: SyntaxNode, depth: number): Condition | undefined {
  const operands = childrenOf(node).filter((child) => child.name !== 'Keyword' && !child.type.isError);
  const items = operands.map((operand) => buildCondition(reader, operand, depth)).filter(isDefined);
  if (items.length < 2) return items[0];
  return { kind: node.name === 'And' ? 'and' : 'or', items, span: spanOf(node) };
}

function buildComparison(reader: NodeReader, node: SyntaxNode): Condition | undefined {
  const [subject, operatorNode, valueNode] = childrenOf(node);
  if (!subject || !operatorNode || node.getChild('⚠') || operatorNode.getChild('⚠')) return undefined;
  // `> last 7d`: only the error behind `last` is reported.
  if (node.nextSibling?.type.isError && valueNode && reader.slice(valueNode) === 'last') return undefined;
  const operator = {
    text: collapseBlanks(reader.slice(operatorNode)).toLowerCase(),
    span: spanOf(operatorNode),
  };
  const valueNodes = valueNode?.name === 'ValueList' ? childrenOf(valueNode) : valueNode ? [valueNode] : [];
  const values = valueNodes.map((child) => buildValue(reader, child)).filter(isDefined);
  const span = spanOf(node);
  if (subject.name === 'Call') {
    const call = buildCall(reader, subject);
    return call && { kind: 'call_comparison', call, operator, values, span };
  }
  const field = reader.field(subject);
  return field && { kind: 'comparison', field, operator, values, span };
}

function buildValue(reader: NodeReader, node: SyntaxNode): Value | undefined {
  const span = spanOf(node);
  const text = reader.slice(node);
  switch (node.name) {
    case 'String':
      return { kind: 'text', text: unquote(text), span };
    case 'Number':
      return { kind: 'number', text, span };
    case 'NegativeNumber':
      return { kind: 'number', text: `-${collapseBlanks(text.slice(1)).trim()}`, span };
    case 'Boolean':
      return { kind: 'boolean', value: text === 'true', span };
    case 'Moment':
      return { kind: 'moment', text, span };
    case 'BareValue':
    case 'Duration':
      return { kind: 'word', text, span };
    default:
      return undefined;
  }
}

/** The event patterns directly in `node`. */
export const buildEventsIn = (reader: NodeReader, node: SyntaxNode): EventPattern[] =>
  childrenOf(node)
    .filter(({ name }) => EVENT_NODES.includes(name))
    .map((child) => buildEvent(reader, child))
    .filter(isDefined);

/** The first event pattern in `node`. */
export function buildEventIn(reader: NodeReader, node: SyntaxNode): EventPattern | undefined {
  const child = firstChildOf(node, EVENT_NODES);
  return child && buildEvent(reader, child);
}

function buildEvent(reader: NodeReader, node: SyntaxNode): EventPattern | undefined {
  const parts = node.name === 'AnyOf' ? node.getChildren('Event') : [node];
  const matches = parts.map((part) => buildMatch(reader, part)).filter(isDefined);
  const [first] = matches;
  if (first === undefined || matches.length < parts.length) return undefined;
  const isPlainName = node.name !== 'AnyOf' && first.condition === undefined;
  const written = (isPlainName && first.name?.text) || collapseBlanks(reader.slice(node));
  return { matches, written, span: spanOf(node) };
}

function buildMatch(reader: NodeReader, node: SyntaxNode): EventMatch | undefined {
  const span = spanOf(node);
  if (node.name === 'Star') return { name: undefined, condition: undefined, span };
  const name = reader.name(node.name === 'EventName' ? node : node.getChild('EventName'));
  const filter = node.getChild('Filter');
  const condition = filter ? buildConditionIn(reader, filter) : undefined;
  return name && (!filter || condition) ? { name, condition, span } : undefined;
}

export function buildCall(reader: NodeReader, node: SyntaxNode): Call | undefined {
  const name = reader.name(node.getChild('FunctionName'));
  const event = buildEventIn(reader, node);
  if (!name || !event || node.getChild('⚠')) return undefined;
  return {
    name,
    event,
    field: reader.field(node.getChild('Field')),
    last: reader.duration(node),
    per: reader.fieldsIn(node.getChild('Per'))[0],
    span: spanOf(node),
  };
}

/** `returning any` and `returning *` both mean any event; an event named any must be quoted. */
export function buildReturning(reader: NodeReader, node: SyntaxNode): EventPattern | undefined {
  const returning = node.getChild('Returning');
  const pattern = returning ? buildEventIn(reader, returning) : undefined;
  if (pattern === undefined || reader.slice(pattern.span) !== 'any') return pattern;
  return { ...pattern, matches: [{ name: undefined, condition: undefined, span: pattern.span }] };
}

/** The events behind `exclude`. */
export function buildExcluded(reader: NodeReader, node: SyntaxNode): EventPattern[] {
  const exclude = node.getChild('Exclude');
  return exclude ? buildEventsIn(reader, exclude) : [];
}
