// Resolves `people`: which of the people behind an answer are listed, and in what order.

import type { StageKind, StageOf, Text } from '../parse/syntax.js';
import { PEOPLE_COLUMNS } from '../people-columns.js';
import { type AnswerOrder, takeAnswerOrder } from './answer-order.js';
import type { EventSelection } from './resolved.js';
import { report, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

export type PeopleStage = StageOf<'people'>;

/** The people of a selection of events. */
export interface EventPeopleQuery extends AnswerOrder {
  readonly kind: 'people';
  readonly selection: EventSelection;
}

/** Stages that change the numbers of an answer, or its columns: the rows are people instead. */
const ANSWER_STAGES = ['aggregate', 'list', 'by', 'top', 'unit', 'compare', 'rolling', 'cumulative', 'share', 'times'];

/** The stage, if there is one. `fitting` are those of the source that do go with it. */
export function takePeople(
  scope: Scope,
  stages: StageReader,
  fitting: readonly StageKind[] = [],
): PeopleStage | undefined {
  const stage = stages.takeOne('people');
  if (stage === undefined) return undefined;
  const others = (ANSWER_STAGES as readonly StageKind[]).filter((kind) => !fitting.includes(kind));
  for (const other of stages.takeAll(...others)) {
    const word = other.kind === 'aggregate' ? other.name : other.kind;
    const hint = HINTS[word] ?? 'leave one of them out';
    report(scope, other.span, `${word} does not go with people, which lists them`, hint);
  }
  return stage;
}

const HINTS: Readonly<Partial<Record<string, string>>> = {
  unique: 'signup | people lists the people of signup | unique',
  by: 'where keeps the people of one group: where _country = "DE"',
  unit: 'units are no people: list the people, or count the units',
  top: 'write limit',
};

/** The order of the rows: the newest first, unless the query says otherwise. */
export const takePeopleOrder = (scope: Scope, stages: StageReader): AnswerOrder =>
  takeAnswerOrder(scope, stages, {
    columns: PEOPLE_COLUMNS.map(({ name }) => name),
    ascending: PEOPLE_COLUMNS.filter(({ type }) => type !== 'time').map(({ name }) => name),
    metric: undefined,
  });

export function takeEventPeople(
  scope: Scope,
  stages: StageReader,
  selection: EventSelection,
): EventPeopleQuery | undefined {
  const stage = takePeople(scope, stages);
  if (stage === undefined) return undefined;
  if (stage.who.kind !== 'all') refuseWho(scope, stage, 'events have no steps, periods or statuses: write people');
  return { kind: 'people', selection, ...takePeopleOrder(scope, stages) };
}

/** Reports that the source has no such people. */
export const refuseWho = (scope: Scope, { span, who }: PeopleStage, hint: string): undefined =>
  report(scope, span, who.kind === 'all' ? 'people does not say which' : 'there are no such people', hint);

interface Numbered {
  readonly number: Text;
  readonly first: number;
  readonly last: number;
  /** A step, or a period. */
  readonly what: string;
}

/** The number of a step or a period that is there. */
export function resolveNumber(scope: Scope, { number, first, last, what }: Numbered): number | undefined {
  const value = Number(number.text);
  if (Number.isInteger(value) && value >= first && value <= last) return value;
  const hint = `it has ${what}s ${first} to ${last}`;
  return report(scope, number.span, `the answer has no ${what} ${number.text}`, hint);
}
