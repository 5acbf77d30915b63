// Hands the stages of a query to the analyzer of its source. What the analyzer has not taken in the
// end is reported as not fitting, so that no stage is ignored.
import type { Span } from '../errors.js';
import { type AggregateName, STAGES } from '../language.js';
import { type Query, type Stage, type StageKind, type StageOf, stagesOf, type Text } from '../parse/syntax.js';
import { TIME_STAGES, type TimeStage } from '../time/range.js';
import { findRowFilters } from './row-filters.js';
import { report, reportBeforeSyntax, type Scope } from './scope.js';

/** How a source is described in errors. */
export interface ReaderNames {
  readonly name: string;
  readonly answers?: string | undefined;
  /** Length of the default time range. */
  readonly days: number;
}

/**
 * Stages about the form of the answer: where one does not fit, the error says what the source
 * answers.
 */
const ANSWER_STAGES: readonly string[] = ['aggregate', 'list', 'sort', 'top'] satisfies StageKind[];

/** First word of a stage, for messages. */
function wordOf(stage: Stage): string {
  if (stage.kind === 'broken') return stage.kind;
  if (stage.kind === 'aggregate') return stage.name;
  if (stage.kind === 'named_range') return stage.word;
  return STAGES[stage.kind].words[0] ?? stage.kind;
}

/** Subject and hint of the error for a second stage. */
interface Wording {
  readonly what: string;
  readonly hint: string;
}

export const wordingOf = (kind: StageKind): Wording => ({
  what: STAGES[kind].what,
  hint: STAGES[kind].twice ?? 'remove one of them',
});

export class StageReader {
  private readonly left: Set<Stage>;
  private readonly rowFilters: StageOf<'where'>[];
  /** Kinds that the analyzer has asked for, in its order. */
  private readonly fitting = new Set<string>();

  private stages: readonly Stage[];

  constructor(
    private readonly scope: Scope,
    query: Query,
    private names: ReaderNames,
  ) {
    this.stages = query.stages;
    this.left = new Set(query.stages);
    this.rowFilters = findRowFilters(query);
  }

  /**
   * The stages `where` that filter rows of the answer: they are not among those of `takeAll`. They
   * are taken once.
   */
  takeRowFilters({ before }: { before?: Stage } = {}): StageOf<'where'>[] {
    const taken = this.rowFilters.filter(
      (stage) => this.left.has(stage) && (before === undefined || this.isBefore(stage, before)),
    );
    for (const stage of taken) this.left.delete(stage);
    return taken;
  }

  /** Whether the one stage is written before the other. */
  isBefore(one: Stage, other: Stage): boolean {
    return this.stages.indexOf(one) < this.stages.indexOf(other);
  }

  /** The number of rows, also when it is taken. */
  get firstSize(): StageOf<'limit' | 'top'> | undefined {
    return stagesOf(this.stages, 'limit', 'top')[0];
  }

  /** Name of the source in errors. */
  get source(): string {
    return this.names.name;
  }

  get defaultDays(): number {
    return this.names.days;
  }

  /** For sources that are described differently, depending on what they carry. */
  describe(names: Partial<ReaderNames>): void {
    this.names = { ...this.names, ...names };
  }

  takeAll<K extends StageKind>(...kinds: readonly K[]): StageOf<K>[] {
    for (const kind of kinds) this.fitting.add(kind);
    const taken = stagesOf(this.stages, ...kinds).filter(
      (stage) => !this.rowFilters.includes(stage as StageOf<'where'>),
    );
    for (const stage of taken) this.left.delete(stage as Stage);
    return taken;
  }

  /** Takes them out of the query, so that no further part of the analysis reports them. */
  remove<K extends StageKind>(...kinds: readonly K[]): StageOf<K>[] {
    const taken = this.takeAll(...kinds);
    this.stages = this.stages.filter((stage) => !taken.some((one) => one === stage));
    return taken;
  }

  /** Whether a stage cannot be read, which may be of any kind. */
  get hasBroken(): boolean {
    return this.stages.some(({ kind }) => kind === 'broken');
  }

  /** The first of these kinds; further ones are reported. */
  takeOne<K extends StageKind>(...kinds: readonly [K, ...K[]]): StageOf<K> | undefined {
    return this.only(this.takeAll(...kinds), wordingOf(kinds[0]));
  }

  /** The only aggregate that the source takes; others are left. */
  takeAggregate(name: AggregateName): StageOf<'aggregate'> | undefined {
    const taken = stagesOf(this.stages, 'aggregate').filter((stage) => stage.name === name);
    this.fitting.add(name);
    for (const stage of taken) this.left.delete(stage);
    return this.only(taken, wordingOf('aggregate'));
  }

  takeTime(): TimeStage | undefined {
    return this.only(this.takeAll(...TIME_STAGES), wordingOf('named_range'));
  }

  /** `limit`, or `top` where the answer has a metric. */
  takeSize(kinds: readonly ('limit' | 'top')[] = ['top', 'limit']): StageOf<'limit' | 'top'> | undefined {
    return this.only(this.takeAll(...kinds), { ...wordingOf('limit'), what: 'the number of rows' });
  }

  /** Reports the `other` of `top` where the answer has no groups that could be summed up. */
  refuseOther(size: StageOf<'limit' | 'top'> | undefined): void {
    if (size?.kind !== 'top' || !size.withOther) return;
    const message = `top … other does not fit ${this.names.name}`;
    report(this.scope, size.span, message, 'it goes with groups of an aggregate: count by _country | top 5 other');
  }

  /** The number of rows of `limit`. */
  takeRowLimit(): number | undefined {
    const size = this.takeSize(['limit']);
    return size && this.countOf(size);
  }

  only<S extends { readonly span: Span }>([first, ...others]: readonly S[], { what, hint }: Wording): S | undefined {
    for (const other of others) report(this.scope, other.span, `${what} is given twice`, hint);
    return first;
  }

  /** The whole number of a stage. */
  countOf(stage: { readonly kind: string; readonly count: Text }): number | undefined {
    const count = Number(stage.count.text);
    if (Number.isInteger(count) && count >= 1 && count <= ROWS_MAX) return count;
    return report(
      this.scope,
      stage.count.span,
      `${stage.kind} ${stage.count.text} is out of range`,
      `it is a whole number from 1 to ${ROWS_MAX}`,
    );
  }

  /**
   * sort, limit and top apply to the aggregate, so they must not precede it. `except` is reported
   * otherwise.
   */
  checkOrder(except?: Stage): void {
    const cut = this.stages.findIndex(({ kind }) => kind === 'sort' || kind === 'limit' || kind === 'top');
    const before = this.stages[cut];
    if (!before) return;
    for (const stage of this.stages.slice(cut)) {
      if ((stage.kind !== 'aggregate' && stage.kind !== 'by') || stage === except) continue;
      const message = `${wordOf(stage)} comes after ${wordOf(before)}`;
      report(this.scope, stage.span, message, 'an aggregate comes before sort, limit and top');
    }
  }

  /** Reports every stage that has not been taken. */
  rejectRest(): void {
    for (const stage of this.left) if (stage.kind !== 'broken') this.reject(stage, stage.kind);
  }

  private reject(stage: Stage, kind: StageKind): void {
    const { name, answers } = this.names;
    const message = `${wordOf(stage)} does not fit ${name}`;
    if (stage.kind === 'where' && this.rowFilters.includes(stage)) {
      const hint = 'a where behind an aggregate of events filters rows: unique by _country | where unique_count > 20';
      report(this.scope, stage.span, `${message}, whose rows are not filtered`, hint);
      return;
    }
    if (answers !== undefined && ANSWER_STAGES.includes(kind)) {
      report(this.scope, stage.span, `${message}, which ${answers}`, `it goes with ${this.fittingInWords()}`);
      return;
    }
    const { sources } = STAGES[kind];
    const hint = sources ? `it goes with ${sources}` : 'remove it';
    reportBeforeSyntax(this.scope, { span: stage.span, message, hint });
  }

  private fittingInWords(): string {
    const isCommon = (kind: string): boolean => ['where', ...TIME_STAGES, 'limit'].includes(kind);
    return ['where', 'a time range', ...[...this.fitting].filter((kind) => !isCommon(kind)), 'limit'].join(', ');
  }
}

const ROWS_MAX = 10_000;
