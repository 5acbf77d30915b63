// Converts the parser's tree to syntax nodes. Incomplete parts are skipped, because their problems are reported.
import type { SyntaxNode } from '@lezer/common';
import type { QueryProblem, Span } from '../errors.js';
import { isDefined } from '../is-defined.js';
import { STAGE_NAMES } from '../language.js';
import { FORM_LIMITS } from '../limits.js';
import { tooDeep } from './scan.js';
import { unquote } from './strings.js';
import type {
  AggregateName,
  Condition,
  Duration,
  EventPattern,
  Expression,
  FieldName,
  Query,
  SortKey,
  Source,
  Stage,
  Text,
  Value,
} from './syntax.js';

/** Bounds the recursion of every later stage. */
const NESTING_MAX = FORM_LIMITS.nesting.max;

const spanOf = (node: SyntaxNode): Span => ({ from: node.from, to: node.to });

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

/**
 * Builds complete nodes; an incomplete one is undefined, and its problem has been reported already.
 */
export class Builder {
  readonly problems: QueryProblem[] = [];

  constructor(private readonly text: string) {}

  query(top: SyntaxNode): Query {
    const stages: Stage[] = [];
    let source: Query['source'];
    for (const node of childrenOf(top)) {
      if (node.name === '|' || node.name === 'Comment') continue;
      if (node.name.endsWith('Source')) source = this.source(node) ?? 'broken';
      else if (node.type.isError && stages.length === 0 && !source) source = 'broken';
      else stages.push(this.stage(node) ?? { kind: 'broken', span: spanOf(node) });
    }
    return { source, stages };
  }

  private slice(node: SyntaxNode): string {
    return this.text.slice(node.from, node.to);
  }

  private nameOf(node: SyntaxNode | null | undefined): Text | undefined {
    const token = node?.firstChild;
    if (!token || token.type.isError) return undefined;
    return { text: token.name === 'String' ? unquote(this.slice(token)) : this.slice(token), span: spanOf(token) };
  }

  private token(node: SyntaxNode | null): Text | undefined {
    if (!node) return undefined;
    return { text: node.name === 'String' ? unquote(this.slice(node)) : this.slice(node), span: spanOf(node) };
  }

  private names(node: SyntaxNode): Text[] {
    return node
      .getChildren('EventName')
      .map((child) => this.nameOf(child))
      .filter(isDefined);
  }

  private eventPattern(node: SyntaxNode): EventPattern | undefined {
    const star = node.getChild('Star');
    if (star) return { kind: 'any', span: spanOf(star) };
    const name = this.nameOf(node.getChild('EventName'));
    return name && { kind: 'named', name: name.text, span: name.span };
  }

  /** `returning any` and `returning *` both mean any event; an event named any must be quoted. */
  private returning(node: SyntaxNode): EventPattern | undefined {
    const pattern = this.eventPattern(node);
    const isAny = pattern?.kind === 'named' && this.text.slice(pattern.span.from, pattern.span.to) === 'any';
    return isAny ? { kind: 'any', span: pattern.span } : pattern;
  }

  private field(node: SyntaxNode | null): FieldName | undefined {
    if (!node || node.getChild('⚠')) return undefined;
    const path = childrenOf(node)
      .map((token) => (token.name === 'String' ? unquote(this.slice(token)) : this.slice(token)))
      .join('');
    return { path, written: this.slice(node), span: spanOf(node) };
  }

  private fieldsIn(node: SyntaxNode | null): FieldName[] {
    return (node?.getChildren('Field') ?? []).map((child) => this.field(child)).filter(isDefined);
  }

  private duration(node: SyntaxNode): Duration | undefined {
    const token = node.getChild('Duration');
    const match = token && /^(\d+)([a-zA-Z]+)$/.exec(this.slice(token));
    return match ? { amount: Number(match[1]), unit: match[2] ?? '', span: spanOf(token) } : undefined;
  }

  private source(node: SyntaxNode): Source | undefined {
    const span = spanOf(node);
    switch (node.name) {
      case 'AllSource':
        return { kind: 'all', span };
      case 'EventSource': {
        const event = this.nameOf(node.getChild('EventName'));
        const isLikeStage = STAGE_NAMES.includes(this.slice(node));
        return event && { kind: 'event', event, ...(isLikeStage && { isLikeStage }), span };
      }
      case 'FunnelSource': {
        const exclude = node.getChild('Exclude');
        return { kind: 'funnel', steps: this.names(node), exclude: exclude ? this.names(exclude) : [], span };
      }
      case 'RetentionSource': {
        const start = this.nameOf(node.getChild('EventName'));
        const returning = node.getChild('Returning');
        return (
          start && { kind: 'retention', start, returning: returning ? this.returning(returning) : undefined, span }
        );
      }
      case 'PathsSource': {
        const anchor = this.nameOf(node.getChild('EventName'));
        const direction = node.getChildren('Keyword').some((word) => this.slice(word) === 'to') ? 'to' : 'from';
        return anchor && { kind: 'paths', direction, anchor, span };
      }
      case 'LifecycleSource':
      case 'StickinessSource':
      case 'InspectSource': {
        const event = this.eventPattern(node);
        const kind = EVENT_SOURCES[node.name];
        return event && { kind, event, span };
      }
      case 'UserSource': {
        const id = this.token(node.getChild('String'));
        return id && { kind: 'user', id, span };
      }
      case 'FormulaSource': {
        const operand = childrenOf(node).find((child) => child.name !== 'Keyword');
        const expression = operand && this.expression(operand, 0);
        return expression && { kind: 'formula', expression, span };
      }
      case 'ChoiceSource': {
        const key = this.nameOf(node.getChild('EventName'));
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

  /** Reported once, because every level above finds the same. */
  private refuse(problem: QueryProblem): undefined {
    if (this.problems.length === 0) this.problems.push(problem);
    return undefined;
  }

  private expression(node: SyntaxNode, depth: number): Expression | undefined {
    if (depth > NESTING_MAX) {
      return this.refuse({
        message: `the formula has more than ${NESTING_MAX} operations in a row`,
        span: { from: node.from, to: node.from + 1 },
        hint: 'split it into several queries',
      });
    }
    const span = spanOf(node);
    const operands = childrenOf(node);
    switch (node.name) {
      case 'Number':
        return { kind: 'number', value: Number(this.slice(node)), span };
      case 'Group':
        return operands[1] && this.expression(operands[1], depth + 1);
      case 'Negative': {
        const operand = operands[1] && this.expression(operands[1], depth + 1);
        return operand && { kind: 'negative', operand, span };
      }
      case 'Binary': {
        const left = operands[0] && this.expression(operands[0], depth + 1);
        const right = operands[2] && this.expression(operands[2], depth + 1);
        const operator = operands[1] && OPERATORS.get(this.slice(operands[1]));
        return left && right && operator && { kind: 'binary', operator, left, right, span };
      }
      case 'Call': {
        const name = this.nameOf(node.getChild('FunctionName')) ?? this.token(node.getChild('FunctionName'));
        const event = this.eventPattern(node);
        return name && event && { kind: 'call', name, event, field: this.field(node.getChild('Field')), span };
      }
      default:
        return undefined;
    }
  }

  private stage(node: SyntaxNode): Stage | undefined {
    const span = spanOf(node);
    switch (node.name) {
      case 'Where': {
        const operand = childrenOf(node).find((child) => child.name !== 'Keyword' && !child.type.isError);
        const condition = operand && this.condition(operand, 0);
        return condition && { kind: 'where', condition, span };
      }
      case 'Last':
      case 'Window': {
        const duration = this.duration(node);
        return duration && { kind: node.name === 'Last' ? 'last' : 'window', duration, span };
      }
      case 'FromTo': {
        const [from, to] = childrenOf(node)
          .filter((child) => child.name === 'Moment' || child.name === 'String')
          .map((child) => this.token(child));
        return from && to && { kind: 'from_to', from, to, span };
      }
      case 'NamedRange':
        return this.namedRange(node);
      case 'Aggregate':
        return this.aggregate(node);
      case 'List':
        return { kind: 'list', fields: this.fieldsIn(node), span };
      case 'Sort': {
        const keys = node
          .getChildren('SortKey')
          .map((key) => this.sortKey(key))
          .filter(isDefined);
        return keys.length > 0 ? { kind: 'sort', keys, span } : undefined;
      }
      case 'Limit':
      case 'Top':
      case 'Depth': {
        const count = this.token(node.getChild('Number'));
        return count && { kind: COUNT_STAGES[node.name], count, span };
      }
      case 'By': {
        const fields = this.fieldsIn(node);
        return fields.length > 0 ? { kind: 'by', fields, span } : undefined;
      }
      case 'ExcludeStage': {
        const exclude = node.getChild('Exclude');
        return { kind: 'exclude', events: exclude ? this.names(exclude) : [], span };
      }
      case 'ReturningStage': {
        const returning = node.getChild('Returning');
        const event = returning ? this.returning(returning) : undefined;
        return event && { kind: 'returning', event, span };
      }
      case 'Results': {
        const event = this.nameOf(node.getChild('EventName'));
        return event && { kind: 'results', event, span };
      }
      case 'Unit': {
        const field = this.field(node.getChild('Field'));
        return field && { kind: 'unit', field, span };
      }
      default:
        return undefined;
    }
  }

  private namedRange(node: SyntaxNode): Stage | undefined {
    const span = spanOf(node);
    const word = node.firstChild ? this.slice(node.firstChild) : '';
    if (word === 'today' || word === 'yesterday') return { kind: 'named_range', word, span };
    const unit = node.getChild('CalendarUnit');
    const name = this.nameOf(unit) ?? this.token(unit);
    return name && { kind: 'this', unit: name, span };
  }

  private aggregate(node: SyntaxNode): Stage | undefined {
    const name = node.getChild('AggregateName');
    if (!name) return undefined;
    return {
      kind: 'aggregate',
      name: this.slice(name) as AggregateName,
      field: this.field(node.getChild('Field')),
      per: this.fieldsIn(node.getChild('Per'))[0],
      by: this.fieldsIn(node.getChild('By')),
      span: spanOf(node),
    };
  }

  private sortKey(node: SyntaxNode): SortKey | undefined {
    const field = this.field(node.getChild('Field'));
    const word = node.getChild('Keyword');
    const isDescending = word !== null && this.slice(word).toLowerCase() === 'desc';
    return field && { field, direction: isDescending ? 'desc' : 'asc' };
  }

  private chain(node: SyntaxNode, depth: number): Condition | undefined {
    const operands = childrenOf(node).filter((child) => child.name !== 'Keyword' && !child.type.isError);
    const items = operands.map((operand) => this.condition(operand, depth)).filter(isDefined);
    if (items.length < 2) return items[0];
    return { kind: node.name === 'And' ? 'and' : 'or', items, span: spanOf(node) };
  }

  private condition(node: SyntaxNode, depth: number): Condition | undefined {
    if (depth > NESTING_MAX) {
      return this.refuse(tooDeep({ from: node.from, to: node.from + 1 }));
    }
    switch (node.name) {
      case 'And':
      case 'Or':
        return this.chain(node, depth);
      case 'Group': {
        const inner = childrenOf(node)[1];
        return inner && this.condition(inner, depth + 1);
      }
      case 'Not': {
        const inner = childrenOf(node)[1];
        const item = inner && this.condition(inner, depth + 1);
        return item && { kind: 'not', item, span: spanOf(node) };
      }
      case 'Comparison':
        return this.comparison(node);
      default:
        return undefined;
    }
  }

  private comparison(node: SyntaxNode): Condition | undefined {
    const [fieldNode, operatorNode, valueNode] = childrenOf(node);
    const field = this.field(fieldNode ?? null);
    if (!field || !operatorNode || node.getChild('⚠') || operatorNode.getChild('⚠')) return undefined;
    const operator = {
      text: this.slice(operatorNode).toLowerCase().replace(/\s+/g, ' '),
      span: spanOf(operatorNode),
    };
    const valueNodes = valueNode?.name === 'ValueList' ? childrenOf(valueNode) : valueNode ? [valueNode] : [];
    const values = valueNodes.map((child) => this.value(child)).filter(isDefined);
    return { kind: 'comparison', field, operator, values, span: spanOf(node) };
  }

  private value(node: SyntaxNode): Value | undefined {
    const span = spanOf(node);
    const text = this.slice(node);
    switch (node.name) {
      case 'String':
        return { kind: 'text', text: unquote(text), span };
      case 'Number':
        return { kind: 'number', text, span };
      case 'NegativeNumber':
        return { kind: 'number', text: `-${text.slice(1).trim()}`, span };
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

const COUNT_STAGES = { Limit: 'limit', Top: 'top', Depth: 'depth' } as const;
