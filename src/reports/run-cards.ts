// Runs the cards of a dashboard for a report, one query after the other, with the default values of
// its variables. A card that cannot be answered says why, and does not hide the others.
import { setTimeout as delay } from 'node:timers/promises';
import { showCell } from '../alerts/message.js';
import type { AlertAnswer, AlertQuestion, AnsweredRows, RunAlertQuery } from '../alerts/run-query.js';
import type { DashboardConfig } from '../dashboards/config-schema.js';
import { fillCards } from '../dashboards/fill-cards.js';
import { PublicError } from '../platform/errors.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';
import { GRANULARITIES, isRecurring } from '../query/fields.js';
import { parse } from '../query/parse/parse.js';
import { change, isShare, percent } from '../query/shares.js';
import type { ReportCard } from './answers.js';

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
    const card = await runCard(
      run,
      { title, isPercent, query },
      {
        countQuery: () => {
          queries += 1;
        },
        mayAsk: () => skipReason() === undefined,
      },
    );
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

/** What the queries of a report may still take. */
interface Budget {
  readonly countQuery: () => void;
  readonly mayAsk: () => boolean;
}

async function runCard(
  run: CardsRun,
  { title, isPercent, query: { q, timezone } }: Required<Omit<AskedCard, 'error'>>,
  { countQuery, mayAsk }: Budget,
): Promise<ReportCard | undefined> {
  const { projectId, personId } = run;
  const question = { projectId, personId, query: q, timezone, rowsMax: ROWS_SHOWN };
  const first = await ask(run, question);
  countQuery();
  if (first === undefined) return undefined;
  const ofFirst = cardOf(title, first, { isPercent, rowsBefore: 0 });
  if (first.kind !== 'rows' || !isSeries(first) || !mayAsk()) return ofFirst;
  const rowsBefore = first.total - ROWS_SHOWN;
  const newest = await ask(run, { ...question, offset: rowsBefore });
  countQuery();
  // The first rows are better than an error.
  return newest?.kind === 'failed' ? ofFirst : newest && cardOf(title, newest, { isPercent, rowsBefore });
}

type Asked = Exclude<AlertAnswer, { kind: 'busy' }>;

/** Undefined when the run was ended. */
async function ask(run: CardsRun, question: AlertQuestion): Promise<Asked | undefined> {
  const { runQuery, signal, mayContinue } = run;
  for (let tries = 1; ; tries++) {
    if (signal.aborted || (await mayContinue?.()) === false) return undefined;
    const answer = await runQuery(question, signal);
    if (signal.aborted) return undefined;
    if (answer.kind !== 'busy') return answer;
    if (tries >= BUSY_TRIES) return { kind: 'failed', error: 'too many queries of this project at once' };
    await delay(BUSY_WAIT_MS, undefined, { signal }).catch(() => {});
  }
}

const cardOf = (title: string, answer: Asked, shown: Shown): ReportCard =>
  answer.kind === 'failed' ? { title, error: answer.error } : { title, ...shownOf(answer, shown) };

/** Names of columns of time buckets; `period` is that of `lifecycle`. */
const PERIODS: readonly string[] = [...GRANULARITIES.filter((granularity) => !isRecurring(granularity)), 'period'];

/** Whether the answer has more rows than are shown, and they begin with the oldest time. */
function isSeries({ columns: [column = ''], rows, total }: AnsweredRows): boolean {
  if (total <= ROWS_SHOWN || !PERIODS.includes(column)) return false;
  const times = rows.map((row) => String(row[column]));
  return times.every((time, index) => index === 0 || time >= (times[index - 1] ?? ''));
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 6 });

interface Shown {
  readonly isPercent: boolean;
  readonly rowsBefore: number;
}

/** Formatted here, so that a message that waits has no more than it shows. */
function shownOf(
  { columns, rows, total, isCompared, mode, hasMeans }: AnsweredRows,
  { isPercent, rowsBefore }: Shown,
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
    rows_before: rowsBefore,
    total,
    columns_left_out: columns.length - shown.length,
  };
}
