// Converts stages to syntax nodes: the table of stages names the form of each.
import type { SyntaxNode } from '@lezer/common';
import { isDefined } from '../is-defined.js';
import { type AggregateName, STAGES } from '../language.js';
import { buildCall, buildConditionIn, buildEventsIn, buildExcluded, buildReturning } from './build-condition.js';
import { childrenOf, kindsByNode, type NodeReader, spanOf } from './node-reader.js';
import type { ComparedTo, GroupKey, PeopleAsked, SortKey, Stage, StageForms, StageKind } from './syntax.js';

const KIND_BY_NODE = kindsByNode<StageKind>(STAGES);

export function buildStage(reader: NodeReader, node: SyntaxNode): Stage | undefined {
  const kind = KIND_BY_NODE.get(node.name);
  const parts = kind && FORMS[STAGES[kind].form](reader, node);
  return parts && ({ kind, ...parts, span: spanOf(node) } as Stage);
}

type Build<Form extends keyof StageForms> = (reader: NodeReader, node: SyntaxNode) => StageForms[Form] | undefined;

const FORMS: { readonly [Form in keyof StageForms]: Build<Form> } = {
  condition: (reader, node) => {
    const condition = buildConditionIn(reader, node);
    return condition && { condition };
  },
  duration: (reader, node) => {
    const duration = reader.duration(node);
    return duration && { duration };
  },
  moment: (reader, node) => {
    const from = reader.token(node.getChild('Moment') ?? node.getChild('String'));
    return from && { from };
  },
  moments: buildMoments,
  period: (reader, node) => {
    const word = node.firstChild ? reader.slice(node.firstChild) : '';
    if (word === 'today' || word === 'yesterday') return { word, unit: undefined };
    const unit = reader.name(node.getChild('CalendarUnit'));
    return unit && { word: word === 'this' ? 'this' : 'last', unit };
  },
  aggregate: (reader, node) => {
    const name = node.getChild('AggregateName');
    if (!name) return undefined;
    return {
      name: reader.slice(name) as AggregateName,
      field: reader.field(node.getChild('Field')),
      per: reader.fieldsIn(node.getChild('Per'))[0],
      by: buildGroupKeys(reader, node.getChild('By')),
    };
  },
  columns: (reader, node) => ({ fields: reader.fieldsIn(node) }),
  groups: (reader, node) => {
    const keys = buildGroupKeys(reader, node);
    return keys.length > 0 ? { keys } : undefined;
  },
  keys: (reader, node) => {
    if (node.getChild('⚠')) return undefined;
    const keys = node
      .getChildren('SortKey')
      .map((key) => buildSortKey(reader, key))
      .filter(isDefined);
    return keys.length > 0 ? { keys } : undefined;
  },
  count: (reader, node) => {
    const count = reader.token(node.getChild('Number'));
    return count && { count };
  },
  top: (reader, node) => {
    const count = reader.token(node.getChild('Number'));
    return count && { count, withOther: node.getChildren('Keyword').length > 1 };
  },
  fields: (reader, node) => {
    const [first, ...others] = reader.fieldsIn(node);
    return first && { fields: [first, ...others] };
  },
  guards: (reader, node) => {
    const events = buildEventsIn(reader, node);
    return events.length > 0 ? { events } : undefined;
  },
  percent: (reader, node) => {
    const amount = reader.token(node.getChild('Number'));
    return amount && { amount, hasSign: node.getChild('Percent') !== null };
  },
  outcome: (reader, node) => {
    const written = node.getChild('Call');
    const call = written ? buildCall(reader, written) : undefined;
    if (written) return call && { event: { text: call.event.written, span: call.event.span }, call };
    const event = reader.name(node.getChild('EventName'));
    const [pattern] = buildEventsIn(reader, node);
    return event && pattern && { event, pattern };
  },
  pattern: (reader, node) => {
    const event = buildReturning(reader, node);
    return event && { event };
  },
  events: (reader, node) => ({ events: buildExcluded(reader, node) }),
  optional_duration: (reader, node) =>
    node.getChild('⚠') ? undefined : { duration: hasDuration(node) ? reader.duration(node) : undefined },
  order: (reader, node) => {
    const word = node.getChildren('Keyword')[1];
    return word && { order: reader.slice(word) === 'any' ? 'any' : 'strict' };
  },
  people: (reader, node) => {
    const who = buildPeople(reader, node);
    return who && { who };
  },
  nothing: () => ({}),
  comparison: (reader, node) => {
    const to = buildComparedTo(reader, node);
    return to && { to };
  },
};

const hasDuration = (node: SyntaxNode): boolean =>
  node.getChild('Duration') !== null || node.getChild('SpacedDuration') !== null;

function buildMoments(reader: NodeReader, node: SyntaxNode): StageForms['moments'] | undefined {
  const [from, to] = childrenOf(node)
    .filter(({ name }) => name === 'Moment' || name === 'String')
    .map((child) => reader.token(child));
  return from && to && { from, to };
}

function buildComparedTo(reader: NodeReader, node: SyntaxNode): ComparedTo | undefined {
  const range = node.getChild('FromTo');
  if (range) {
    const moments = buildMoments(reader, range);
    return moments && { kind: 'moments', ...moments };
  }
  const duration = reader.duration(node);
  if (duration) return { kind: 'duration', duration };
  const word = node.getChildren('Keyword')[1];
  const text = word && reader.slice(word);
  return text === 'previous' || text === 'weekdays' ? { kind: text } : undefined;
}

function buildPeople(reader: NodeReader, node: SyntaxNode): PeopleAsked | undefined {
  if (node.getChild('⚠')) return undefined;
  const status = reader.name(node.getChild('PeopleStatus'));
  // `people step 2`: only the error behind the word is reported.
  if (status && node.nextSibling?.type.isError) return undefined;
  if (status) return { kind: 'status', status };
  const word = node.getChildren('Keyword')[1];
  if (!word) return { kind: 'all' };
  const number = reader.token(node.getChild('Number'));
  if (!number) return undefined;
  if (reader.slice(word) === 'lost') return { kind: 'lost_after', number };
  const cohort = reader.token(node.getChild('Moment') ?? node.getChild('String'));
  return { kind: 'at', number, cohort };
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
