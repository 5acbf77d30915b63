// Drop rules that are ready to be asked. Loaded only by processes with a project that has rules,
// because conditions need a library for regular expressions.
import { LRUCache } from 'lru-cache';
import { BOUNDS } from '../../platform/flow/bounds.js';
import type { Condition, ResolvedField } from '../../query/analyze/resolved.js';
import { estimateStates } from '../../query/conditions/pattern.js';
import type { RawEvent } from '../body.js';
import { type EventTest, toTest } from './evaluate.js';
import { IncomingEvent, type IncomingRequest } from './incoming-event.js';
import { BOTS_KEY, type IngestRules } from './rules.js';

export interface CompiledRules {
  /** The key of the first rule that drops the event; undefined when it is let in. */
  readonly find: (request: IncomingRequest, event: RawEvent) => string | undefined;
  /** What the rules may cost for a body, whatever its events are. */
  readonly cost: RuleCost;
}

export interface RuleCost {
  /** States of the regular expressions on user agents, and of the others. */
  readonly agentStates: number;
  readonly otherStates: number;
  readonly parsesAgents: boolean;
}

/** Rules of one version of a project never change. */
const compiled = new LRUCache<string, CompiledRules>({ max: 1_000 });

export function compiledRules(projectId: string, rules: IngestRules): CompiledRules {
  const key = `${projectId}:${rules.version}`;
  const known = compiled.get(key) ?? compile(rules);
  compiled.set(key, known);
  return known;
}

function compile({ dropsBots, rules }: IngestRules): CompiledRules {
  const byType = new Map<string, string>();
  const tests: { readonly key: string; readonly test: EventTest }[] = [];
  for (const { key, event, condition } of rules) {
    if (event !== undefined) byType.set(event, key);
    else if (condition !== undefined) tests.push({ key, test: toTest(condition) });
  }
  if (dropsBots) tests.push({ key: BOTS_KEY, test: ({ isOfBot }) => isOfBot });
  return {
    find: (request, event) => {
      const key = byType.get(String(event.event_type));
      if (key !== undefined || tests.length === 0) return key;
      const incoming = new IncomingEvent(request, event);
      return tests.find(({ test }) => test(incoming))?.key;
    },
    cost: costOf(
      dropsBots,
      rules.flatMap(({ condition }) => condition ?? []),
    ),
  };
}

const AGENT_COLUMNS: ReadonlySet<string> = new Set([
  'browser',
  'browser_version',
  'os',
  'os_version',
  'platform',
  'device_type',
]);

function costOf(dropsBots: boolean, conditions: readonly Condition[]): RuleCost {
  const leaves = conditions.flatMap(leavesOf);
  const statesOf = (isAgent: boolean): number =>
    leaves.reduce((sum, leaf) => {
      const isMeant = leaf.kind === 'matches' && (columnOf(leaf.field) === 'ua') === isAgent;
      return isMeant ? sum + estimateStates(leaf.pattern) : sum;
    }, 0);
  return {
    agentStates: statesOf(true),
    otherStates: statesOf(false),
    parsesAgents: dropsBots || leaves.some(({ field }) => AGENT_COLUMNS.has(columnOf(field) ?? '')),
  };
}

const columnOf = (field: ResolvedField): string | undefined =>
  field.kind === 'column' ? field.field.column : undefined;

type Leaf = Extract<Condition, { readonly field: ResolvedField }>;

function leavesOf(condition: Condition): Leaf[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.items.flatMap(leavesOf);
  if (condition.kind === 'not') return leavesOf(condition.item);
  return 'field' in condition ? [condition] : [];
}

/** Whether the rules decide about the body within milliseconds; otherwise a thread does. */
export function isDecidedInLoop(
  { agentStates, otherStates, parsesAgents }: RuleCost,
  body: { readonly bytes: number; readonly userAgentLength: number; readonly mayOverrideClient: boolean },
): boolean {
  const agentBytes = body.userAgentLength + (body.mayOverrideClient ? body.bytes : 0);
  if (parsesAgents && agentBytes > BOUNDS.ruleAgentBytesInLoop) return false;
  return agentStates * agentBytes + otherStates * body.bytes <= BOUNDS.ruleStepsInLoop;
}
