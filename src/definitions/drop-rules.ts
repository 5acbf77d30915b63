// Reads the drop rules of a document of definitions. A condition is one of the query language, with
// the field `ip`; what cannot be decided about an event when it arrives is refused by name.
import { createHash } from 'node:crypto';
import type { DashboardProblem } from '../dashboards/problems.js';
import type { YamlSource } from '../dashboards/yaml-source.js';
import { tryParseNetwork } from '../ingest/drop/networks.js';
import { ADDRESS_FIELD, type DropRule } from '../ingest/drop/rules.js';
import { isWithinLimits } from '../query/analyze/form.js';
import { noMentions } from '../query/analyze/mentions.js';
import { resolveEventField } from '../query/analyze/resolve-field.js';
import type { ResolvedField } from '../query/analyze/resolved.js';
import { report, type Scope } from '../query/analyze/scope.js';
import { estimateStates } from '../query/conditions/pattern.js';
import { resolveCondition } from '../query/conditions/resolve.js';
import { type QueryProblem, quote, type Span } from '../query/errors.js';
import { DISTINCT_ID } from '../query/fields.js';
import { NearestNames } from '../query/nearest-names.js';
import { parse } from '../query/parse/parse.js';
import { type Comparison, comparisonsIn, type FieldName } from '../query/parse/syntax.js';
import { GUESSES } from '../query/property-guess.js';
import type { DefinitionsDocument } from './config-schema.js';

/** A rule as the document has it. */
export interface ShownRule {
  readonly key: string;
  readonly when?: string | undefined;
  readonly event?: string | undefined;
  readonly about?: string | undefined;
  /** Line in the document, from 1. */
  readonly line: number;
}

export interface ReadRules {
  readonly shown: readonly ShownRule[];
  readonly rules: readonly DropRule[];
  readonly problems: readonly DashboardProblem[];
  readonly warnings: readonly string[];
}

// In all rules together, because every event is asked.
const RULE_CONDITIONS_MAX = 100;
const RULE_STATES_MAX = 500;

type RuleContext = Pick<Scope, 'nowMs' | 'timezone'>;

type RuleText = NonNullable<DefinitionsDocument['drop']>[number];

export function readDropRules(source: YamlSource, texts: readonly RuleText[], context: RuleContext): ReadRules {
  // One bound for all rules.
  const nearest = new NearestNames();
  const read = texts.map((text, index) => readRule(source, { text, index }, { ...context, nearest }));
  const problems = [
    ...read.flatMap((rule) => rule.problems),
    ...findRepeated(source, read),
    ...findBeyond(source, read, 'conditions', RULE_CONDITIONS_MAX),
    ...findBeyond(source, read, 'states', RULE_STATES_MAX),
  ];
  return {
    problems,
    shown: read.map(({ shown }) => shown),
    rules: read.map(({ rule }) => rule),
    warnings: read.flatMap(({ shown, warnings }) => warnings.map((text) => `drop rule (line ${shown.line}): ${text}`)),
  };
}

interface ReadRule {
  readonly index: number;
  readonly shown: ShownRule;
  readonly rule: DropRule;
  readonly problems: readonly DashboardProblem[];
  readonly warnings: readonly string[];
  /** Comparisons, and states of regular expressions. */
  readonly conditions: number;
  readonly states: number;
}

function readRule(
  source: YamlSource,
  { text, index }: { readonly text: RuleText; readonly index: number },
  context: RuleContext & Pick<Scope, 'nearest'>,
): ReadRule {
  const { when, event, about } = text;
  const path = ['drop', index];
  const { line } = source.problemAt(path, { message: '', hint: '' });
  const key = keyOf(event === undefined ? `when ${when}` : `event ${event}`);
  const shown: ShownRule = { key, when, event, about, line };
  const common = { index, shown, warnings: [], conditions: 0, states: 0 };
  if ((when === undefined) === (event === undefined)) {
    const hint = `a rule is { event: debug }, or { when: 'event_properties.internal = true' }`;
    const problem = source.problemAt(path, { message: 'a rule has either when or event', hint });
    return { ...common, rule: { key }, problems: [problem] };
  }
  if (when === undefined) return { ...common, rule: { key, event: event as string }, problems: [] };
  const read = readCondition(when, context);
  const problems = read.problems.map(({ span, message, hint }) =>
    source.problemInText([...path, 'when'], Math.min(span.from, when.length), { message, hint }),
  );
  const rule: DropRule = read.condition === undefined ? { key } : { key, condition: read.condition };
  return { ...common, ...read, rule, problems };
}

const keyOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function findRepeated(source: YamlSource, read: readonly ReadRule[]): DashboardProblem[] {
  const keys = read.map(({ shown }) => shown.key);
  return read
    .filter(({ shown }, at) => keys.indexOf(shown.key) < at)
    .map(({ index }) => source.problemAt(['drop', index], { message: 'the rule is there twice', hint: 'remove one' }));
}

const COUNTED = { conditions: 'conditions', states: 'states in their regular expressions' } as const;

function findBeyond(
  source: YamlSource,
  read: readonly ReadRule[],
  what: keyof typeof COUNTED,
  max: number,
): DashboardProblem[] {
  const upTo = (count: number): number => read.slice(0, count).reduce((sum, rule) => sum + rule[what], 0);
  const first = read.find((_, index) => upTo(index + 1) > max);
  if (first === undefined) return [];
  const all = upTo(read.length);
  const message = `the rules have ${all} ${COUNTED[what]}; the limit is ${max}`;
  const hint = what === 'states' ? 'use contains, or in (…), or shorter expressions' : 'join values with in (…)';
  return [source.problemAt(['drop', first.index], { message, hint })];
}

const BEFORE = '* | where ';
const RULE_FORM = `a rule is one condition, as in: _path starts with "/admin" or event_properties.internal = true`;

type ReadCondition = Pick<ReadRule, 'warnings' | 'conditions' | 'states'> & {
  readonly condition: DropRule['condition'];
  readonly problems: readonly QueryProblem[];
};

/** Problems have places in the text. */
function readCondition(text: string, context: RuleContext & Pick<Scope, 'nearest'>): ReadCondition {
  const { query, problems: inSyntax } = parse(BEFORE + withNetworks(text));
  const [stage, second] = query.stages;
  const scope: Scope = {
    ...{ nowMs: context.nowMs, timezone: context.timezone, nearest: context.nearest },
    ...{ guessOf: () => GUESSES[0], mentions: noMentions(), problems: [...inSyntax], warnings: [], selected: {} },
    ...{ named: { times: 0 }, calls: new Map(), findField, resolveCall },
  };
  if (inSyntax.length === 0 && (second !== undefined || stage?.kind !== 'where')) {
    report(scope, second?.span ?? stage?.span ?? { from: 0, to: 0 }, 'a rule has no stages', RULE_FORM);
  }
  const written = stage?.kind === 'where' ? stage.condition : undefined;
  const comparisons = written === undefined ? [] : comparisonsIn(written);
  if (written !== undefined && scope.problems.length === 0) checkAddresses(scope, comparisons);
  const isResolved = scope.problems.length === 0 && isWithinLimits(scope, query);
  const condition = isResolved && written !== undefined ? resolveCondition(scope, written) : undefined;
  const states = comparisons
    .filter(({ operator }) => operator.text.endsWith('~'))
    .flatMap(({ values }) => values.map((value) => (value.kind === 'text' ? estimateStates(value.text) : 1)));
  return {
    condition: scope.problems.length === 0 ? condition : undefined,
    problems: scope.problems.map((problem) => ({ ...problem, span: inText(problem.span) })),
    warnings: scope.warnings,
    conditions: comparisons.length,
    states: states.reduce((sum, of) => sum + of, 0),
  };
}

const inText = ({ from, to }: Span): Span => ({
  from: Math.max(0, from - BEFORE.length),
  to: Math.max(0, to - BEFORE.length),
});

/** A string, or `ip in "…"` without parentheses. */
const STRING_OR_NETWORK = /"(?:[^"\\]|\\.)*"|\bip(\s+)(not\s+in|in)(?=\s+")/g;

/** One network needs no parentheses. The text keeps its length, so that places stay. */
const withNetworks = (text: string): string =>
  text.replace(STRING_OR_NETWORK, (all, blanks?: string, operator?: string) =>
    operator === undefined ? all : `ip${blanks}${(operator === 'in' ? '=' : '!=').padEnd(operator.length)}`,
  );

const ADDRESS_OPERATORS: readonly string[] = ['=', '!=', 'in', 'not in', 'exists', 'not exists'];
const ADDRESS_HINT = 'write 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32, in quotes';

function checkAddresses(scope: Scope, comparisons: readonly Comparison[]): void {
  for (const { field, operator, values } of comparisons) {
    if (field.path !== ADDRESS_FIELD) continue;
    if (!ADDRESS_OPERATORS.includes(operator.text)) {
      report(
        scope,
        operator.span,
        `${operator.text} does not fit ip`,
        `ip takes =, !=, in and exists; ${ADDRESS_HINT}`,
      );
      continue;
    }
    for (const value of values) {
      const text = value.kind === 'boolean' ? String(value.value) : value.text;
      if (tryParseNetwork(text) !== undefined) continue;
      report(scope, value.span, `${quote(text)} is neither an address nor a network`, ADDRESS_HINT);
    }
  }
}

const LATER = /^(?:user|cohort|session|user_first_session|user_last_session)\./;
const AT_ARRIVAL =
  'a rule decides about one event when it arrives: by its type, ids and time, fields such as _path, and its properties';

function findField(scope: Scope, name: FieldName): ResolvedField | undefined {
  const { path, written, span } = name;
  if (path === ADDRESS_FIELD) {
    const field = { name: ADDRESS_FIELD, column: 'ip', type: 'id', category: 'other', hash: undefined } as const;
    return { kind: 'column', name: ADDRESS_FIELD, field };
  }
  if (path === DISTINCT_ID) {
    return report(scope, span, `${written} is not known when an event arrives`, 'write user_id or device_id');
  }
  if (LATER.test(path)) return report(scope, span, `${written} is not known when an event arrives`, AT_ARRIVAL);
  return resolveEventField(scope, name);
}

const resolveCall: Scope['resolveCall'] = (scope, { call }) =>
  report(scope, call.span, `${call.name.text}(…) is not known when an event arrives`, AT_ARRIVAL);
