// Converts stages to syntax nodes.
import type { SyntaxNode } from '@lezer/common';
import type { Span } from '../errors.js';
import { isDefined } from '../is-defined.js';
import { buildConditionIn, buildEventsIn } from './build-condition.js';
import { buildReturning } from './build-source.js';
import { childrenOf, type NodeReader, spanOf } from './node-reader.js';
import type { AggregateName, GroupKey, SortKey, Stage } from './syntax.js';

type Build = (reader: NodeReader, node: SyntaxNode, span: Span) => Stage | undefined;

export const buildStage = (reader: NodeReader, node: SyntaxNode): Stage | undefined =>
  BUILDERS.get(node.name)?.(reader, node, spanOf(node));

/** By node of the grammar. */
const BUILDERS: ReadonlyMap<string, Build> = new Map<string, Build>([
  [
    'Where',
    (reader, node, span) => {
      const condition = buildConditionIn(reader, node);
      return condition && { kind: 'where', condition, span };
    },
  ],
  ['Last', buildDuration('last')],
  ['Window', buildDuration('window')],
  [
    'FromTo',
    (reader, node, span) => {
      const [from, to] = childrenOf(node)
        .filter(({ name }) => name === 'Moment' || name === 'String')
        .map((child) => reader.token(child));
      return from && to && { kind: 'from_to', from, to, span };
    },
  ],
  [
    'Since',
    (reader, node, span) => {
      const from = reader.token(node.getChild('Moment') ?? node.getChild('String'));
      return from && { kind: 'since', from, span };
    },
  ],
  ['NamedRange', buildNamedRange],
  [
    'Aggregate',
    (reader, node, span) => {
      const name = node.getChild('AggregateName');
      return (
        (name && {
          kind: 'aggregate',
          name: reader.slice(name) as AggregateName,
          field: reader.field(node.getChild('Field')),
          per: reader.fieldsIn(node.getChild('Per'))[0],
          by: buildGroupKeys(reader, node.getChild('By')),
          span,
        }) ??
        undefined
      );
    },
  ],
  ['List', (reader, node, span) => ({ kind: 'list', fields: reader.fieldsIn(node), span })],
  [
    'Sort',
    (reader, node, span) => {
      const keys = node
        .getChildren('SortKey')
        .map((key) => buildSortKey(reader, key))
        .filter(isDefined);
      return keys.length > 0 ? { kind: 'sort', keys, span } : undefined;
    },
  ],
  ['Limit', buildCount('limit')],
  ['Depth', buildCount('depth')],
  [
    'Top',
    (reader, node, span) => {
      const count = reader.token(node.getChild('Number'));
      return count && { kind: 'top', count, withOther: node.getChildren('Keyword').length > 1, span };
    },
  ],
  [
    'By',
    (reader, node, span) => {
      const keys = buildGroupKeys(reader, node);
      return keys.length > 0 ? { kind: 'by', keys, span } : undefined;
    },
  ],
  [
    'ExcludeStage',
    (reader, node, span) => {
      const exclude = node.getChild('Exclude');
      return { kind: 'exclude', events: exclude ? buildEventsIn(reader, exclude) : [], span };
    },
  ],
  [
    'ReturningStage',
    (reader, node, span) => {
      const returning = node.getChild('Returning');
      const event = returning ? buildReturning(reader, returning) : undefined;
      return event && { kind: 'returning', event, span };
    },
  ],
  [
    'Results',
    (reader, node, span) => {
      const event = reader.name(node.getChild('EventName'));
      return event && { kind: 'results', event, span };
    },
  ],
  [
    'Unit',
    (reader, node, span) => {
      const field = reader.field(node.getChild('Field'));
      return field && { kind: 'unit', field, span };
    },
  ],
]);

function buildDuration(kind: 'last' | 'window'): Build {
  return (reader, node, span) => {
    const duration = reader.duration(node);
    return duration && { kind, duration, span };
  };
}

function buildCount(kind: 'limit' | 'depth'): Build {
  return (reader, node, span) => {
    const count = reader.token(node.getChild('Number'));
    return count && { kind, count, span };
  };
}

function buildNamedRange(reader: NodeReader, node: SyntaxNode, span: Span): Stage | undefined {
  const word = node.firstChild ? reader.slice(node.firstChild) : '';
  if (word === 'today' || word === 'yesterday') return { kind: 'named_range', word, span };
  const unit = reader.name(node.getChild('CalendarUnit'));
  return unit && { kind: word === 'this' ? 'this' : 'last_period', unit, span };
}

function buildSortKey(reader: NodeReader, node: SyntaxNode): SortKey | undefined {
  const field = reader.field(node.getChild('Field'));
  const word = node.getChild('Keyword');
  if (word === null) return field && { field, direction: undefined };
  return field && { field, direction: reader.slice(word).toLowerCase() === 'desc' ? 'desc' : 'asc' };
}

const buildGroupKeys = (reader: NodeReader, by: SyntaxNode | null): GroupKey[] =>
  (by ? childrenOf(by) : []).map((node) => buildGroupKey(reader, node)).filter(isDefined);

function buildGroupKey(reader: NodeReader, node: SyntaxNode): GroupKey | undefined {
  const span = spanOf(node);
  const [first, second] = reader.fieldsIn(node);
  switch (node.name) {
    case 'Field': {
      const name = reader.field(node);
      return name && { kind: 'name', name };
    }
    case 'Bucket': {
      const width = reader.token(node.getChild('Number'));
      const name = reader.name(node.getChild('FunctionName'));
      return first && width && name && { kind: 'bucket', function: name, field: first, width, span };
    }
    case 'PeriodOf':
      return first && second && { kind: 'period_of', period: first, field: second, span };
    default:
      return undefined;
  }
}
