// Merges conditions that mean one list: `a = 1 or a = 2` becomes `a in (1, 2)`, `a != 1 and a != 2`
// becomes `a not in (1, 2)`, and consecutive where stages before an aggregate are joined with
// `and`. A chain of any length then costs as much as a list. Behind an aggregate one where may
// filter rows, and the next one events.
import { findRowFilters } from '../analyze/row-filters.js';
import type { Condition, GroupKey, Query, Stage } from '../parse/syntax.js';

type Chain = Extract<Condition, { kind: 'and' | 'or' }>;
type Comparison = Extract<Condition, { kind: 'comparison' }>;

export const mergeConditions = ({ source, stages }: Query): Query => ({
  source,
  stages: joinWheres(stages, new Set<Stage>(findRowFilters({ source, stages }))).map(mergeStage),
});

function mergeStage(stage: Stage): Stage {
  if (stage.kind === 'where') return { ...stage, condition: merge(stage.condition) };
  if (stage.kind === 'by') return { ...stage, keys: stage.keys.map(mergeCohort) };
  return stage.kind === 'aggregate' ? { ...stage, by: stage.by.map(mergeCohort) } : stage;
}

const mergeCohort = (key: GroupKey): GroupKey =>
  key.kind === 'name' && key.name.cohort ? { ...key, name: { ...key.name, cohort: merge(key.name.cohort) } } : key;

function joinWheres(stages: readonly Stage[], ofRows: ReadonlySet<Stage>): Stage[] {
  const joined: Stage[] = [];
  let run: Extract<Stage, { kind: 'where' }>[] = [];
  const endRun = (): void => {
    const [first] = run;
    if (!first) return;
    const items = run.map((stage) => stage.condition);
    joined.push(
      items.length === 1 ? first : { ...first, condition: { kind: 'and', items, span: first.condition.span } },
    );
    run = [];
  };
  let isBehind = false;
  for (const stage of stages) {
    isBehind ||= stage.kind === 'aggregate' || stage.kind === 'by';
    if (stage.kind === 'where' && !isBehind && !ofRows.has(stage)) {
      run.push(stage);
      continue;
    }
    endRun();
    joined.push(stage);
  }
  endRun();
  return joined;
}

function merge(condition: Condition): Condition {
  switch (condition.kind) {
    case 'comparison':
    case 'call_comparison':
      return condition;
    case 'not':
      return { ...condition, item: merge(condition.item) };
    case 'and':
    case 'or': {
      const items = mergeLists(flatten(condition, condition.kind).map(merge), LISTS[condition.kind]);
      const [only] = items;
      return items.length === 1 && only ? only : { ...condition, items };
    }
  }
}

const flatten = (condition: Condition, kind: Chain['kind']): Condition[] =>
  condition.kind === kind ? condition.items.flatMap((item) => flatten(item, kind)) : [condition];

interface ListOperator {
  readonly list: string;
  readonly one: string;
}

/** The operators that form one list in a chain of this kind. */
const LISTS: Readonly<Record<Chain['kind'], ListOperator>> = {
  or: { list: 'in', one: '=' },
  and: { list: 'not in', one: '!=' },
};

/** The list takes the place of its first comparison. */
function mergeLists(items: readonly Condition[], { list, one }: ListOperator): Condition[] {
  const merged: Condition[] = [];
  const places = new Map<string, { at: number; comparisons: Comparison[] }>();
  for (const item of items) {
    const isPart = item.kind === 'comparison' && (item.operator.text === one || item.operator.text === list);
    const place = isPart ? places.get(item.field.path) : undefined;
    if (isPart && place) place.comparisons.push(item);
    else if (isPart) places.set(item.field.path, { at: merged.push(item) - 1, comparisons: [item] });
    else merged.push(item);
  }
  for (const { at, comparisons } of places.values()) {
    const [first] = comparisons;
    if (!first || comparisons.length === 1) continue;
    const values = comparisons.flatMap((comparison) => comparison.values);
    merged[at] = { ...first, operator: { ...first.operator, text: list }, values };
  }
  return merged;
}
