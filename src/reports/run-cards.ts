// Runs the cards of a dashboard for a report, one query after the other, with the default values of
// its variables. A card that cannot be answered says why, and does not hide the others.
import { setTimeout as delay } from 'node:timers/promises';
import { showCell } from '../alerts/message.js';
import type { RunAlertQuery } from '../alerts/run-query.js';
import type { DashboardConfig } from '../dashboards/config-schema.js';
import { fillCards } from '../dashboards/fill-cards.js';
import { PublicError } from '../platform/errors.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';
import { parse } from '../query/parse/parse.js';
import { change, isShare, percent } from '../query/shares.js';
import type { ReportCard } from './message.js';

/** Rows of a table that a report shows. */
const ROWS_SHOWN = 10;
const COLUMNS_SHOWN = 12;
/** A project that has too many queries is asked again. */
const BUSY_TRIES = 5;
const BUSY_WAIT_MS = 3_000;

export interface CardsRun {
  readonly projectId: ProjectId;
  readonly personId: string;
  readonly config: DashboardConfig;
  /** Time zone of the project, for documents without one. */
  readonly timezone: string;
  readonly runQuery: RunAlertQuery;
  /** No query begins later, in milliseconds from now. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  /** Before each query; false ends the run. */
  readonly mayContinue?: () => Promise<boolean>;
}

interface AskedCard {
  readonly title: string;
  /** Whether the document asks for the number of the card as a percentage. */
  readonly isPercent?: boolean;
  readonly query?: { readonly q: string; readonly timezone: string };
  readonly error?: string;
}

/** Undefined when the run was ended. Never rejects because of a card. */
export async function runCards(run: CardsRun): Promise<ReportCard[] | undefined> {
  const deadline = performance.now() + run.withinMs;
  const cards: ReportCard[] = [];
  let [queries, characters] = [0, 0];
  const skipReason = (): string | undefined => {
    if (queries >= BOUNDS.reportQueries) return `not shown: a report has at most ${BOUNDS.reportQueries} queries`;
    if (characters >= BOUNDS.reportCharacters) return 'not shown: the report is too long';
    return performance.now() > deadline ? 'not shown: the queries before it took too long' : undefined;
  };
  for (const { title, isPercent = false, query, error } of askedCards(run)) {
    const skipped = error ?? skipReason();
    if (query === undefined || skipped !== undefined) {
      cards.push({ title, error: skipped ?? 'the card has no query' });
      continue;
    }
    queries += 1;
    const card = await runCard(run, { title, isPercent, query });
    if (card === undefined) return undefined;
    characters += JSON.stringify(card).length;
    cards.push(card);
  }
  return cards;
}

/** Markdown cards have no queries, and are left out. */
function askedCards({ config, timezone }: CardsRun): AskedCard[] {
  const byId = new Map(config.sections.flatMap(({ cards }) => cards).map((card) => [card.id, card]));
  try {
    return fillCards(config, new Map(), config.timezone ?? timezone).flatMap((card): AskedCard[] => {
      const { title = card.id, viz, options } = byId.get(card.id) ?? {};
      if ('error' in card) return [{ title, error: card.error }];
      const { queries } = card;
      return queries.map(({ name, ...query }) => ({
        title: queries.length > 1 ? `${title}: ${name}` : title,
        isPercent: viz === 'number' && options?.percent === true,
        ...(listsPeople(query.q) ? { error: 'lists people: see the dashboard' } : { query }),
      }));
    });
  } catch (error) {
    if (error instanceof PublicError) return [{ title: config.title, error: error.message }];
    throw error;
  }
}

/** Lists of people are recorded with the person who reads them, and a mail has no such person. */
const listsPeople = (q: string): boolean => parse(q).query.stages.some(({ kind }) => kind === 'people');

async function runCard(
  { projectId, personId, runQuery, signal, mayContinue }: CardsRun,
  { title, isPercent, query: { q, timezone } }: Required<Omit<AskedCard, 'error'>>,
): Promise<ReportCard | undefined> {
  for (let tries = 1; ; tries++) {
    if (signal.aborted || (await mayContinue?.()) === false) return undefined;
    const answer = await runQuery({ projectId, personId, query: q, timezone, rowsMax: ROWS_SHOWN }, signal);
    if (signal.aborted) return undefined;
    if (answer.kind === 'rows') return { title, ...shownOf(answer, isPercent) };
    if (answer.kind === 'failed') return { title, error: answer.error };
    if (tries >= BUSY_TRIES) return { title, error: 'too many queries of this project at once' };
    await delay(BUSY_WAIT_MS, undefined, { signal }).catch(() => {});
  }
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 6 });

type Answered = Extract<Awaited<ReturnType<RunAlertQuery>>, { kind: 'rows' }>;

/** Formatted here, so that a message that waits has no more than it shows. */
function shownOf(
  { columns, rows, total, isCompared, mode, hasMeans }: Answered,
  isPercent: boolean,
): Omit<Extract<ReportCard, { columns: unknown }>, 'title'> {
  const shown = columns.slice(0, COLUMNS_SHOWN);
  const isChange = (column: string): boolean => isCompared && /^change(?:_|$)/.test(column);
  const ownOf = (column: string): string => (isCompared ? column.replace(/^previous_/, '') : column);
  const formatOf = (column: string): ((value: number) => string) => {
    if (isChange(column)) return change;
    const isRate = isShare(mode, ownOf(column), hasMeans) || (isPercent && rows.length === 1);
    return isRate ? percent : (value) => NUMBER.format(value);
  };
  const show = (column: string, cell: unknown): string => {
    if (cell === null || cell === undefined) return '(none)';
    if (typeof cell !== 'number') return showCell(cell, column);
    return formatOf(column)(cell);
  };
  return {
    columns: shown.map((column) => showCell(column, column)),
    numbers: shown.map((column) => rows.every((row) => typeof (row[column] ?? 0) === 'number')),
    rows: rows.slice(0, ROWS_SHOWN).map((row) => shown.map((column) => show(column, row[column]))),
    total,
    columns_left_out: columns.length - shown.length,
  };
}
