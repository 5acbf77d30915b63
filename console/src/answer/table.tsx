// Table of an answer. Rows outside of the view are not in the document, so 10,000 rows scroll as
// well as ten; every row has the same height. Paper does not scroll: it has the first rows.
import { type CSSProperties, type UIEvent, useMemo, useState, useSyncExternalStore } from 'react';
import { Link, useParams } from 'wouter';
import type { Answer, Cell } from '../api/answer.js';
import { ROWS_MAX } from '../api/query.js';
import { toPerson } from '../people/address.js';
import { texts } from '../texts.js';
import { partOf, rangeStage, timeUnitOf } from './buckets.js';
import { columnsOf, inReadingOrder, isNumeric, numberIn, type ShownColumn, showCell, splitColumns } from './columns.js';
import style from './table.module.css';
import type { Refinements } from './use-refinements.js';

const ROW_PIXELS = 33;
const VIEW_PIXELS = 560;
/** Letters of a text that a narrow column may cut off. */
const CUT_MIN = 12;
const AROUND = 8;
/** About twelve pages. */
const PRINTED_ROWS_MAX = 500;
/** Wide answers show fewer rows at a time, which bounds the elements of the page. */
const CELLS_MAX = 900;
/** Columns in the name of a table, which screen readers read out. */
const NAMED_COLUMNS_MAX = 6;

interface Props {
  readonly answer: Answer;
  readonly timezone: string;
  readonly showAll?: () => void;
  readonly refine?: Partial<Refinements> | undefined;
}

export function Table({ answer, timezone, showAll, refine }: Props) {
  // Index of the topmost row: scrolling within a row draws nothing again.
  const [top, setTop] = useState(0);
  const { id: projectId } = useParams<{ readonly id: string }>();
  const { rows } = answer;
  const { columns, bar, groups, name, partial } = useMemo(() => readColumns(answer, timezone), [answer, timezone]);
  const choose = ({ name, kind }: ShownColumn, cell: Cell): (() => void) | undefined => {
    if (!groups.includes(name)) return undefined;
    if (kind === 'text') return filterOf([[name, cell]], refine);
    const unit = kind === 'bucket' ? timeUnitOf(name) : undefined;
    if (unit === undefined || typeof cell !== 'string') return undefined;
    return refine?.narrow && (() => refine.narrow?.(rangeStage(unit, cell, cell)));
  };
  const filteredBy = columns.filter(({ name, kind }) => groups.includes(name) && kind === 'text');
  const isPrinted = useSyncExternalStore(onPrint, () => PRINT.matches);
  const shown = isPrinted
    ? PRINTED_ROWS_MAX
    : Math.min(Math.ceil(VIEW_PIXELS / ROW_PIXELS) + 2 * AROUND, Math.floor(CELLS_MAX / columns.length));
  const first = isPrinted ? 0 : Math.max(0, Math.min(top - AROUND, rows.length - shown));
  const visible = rows.slice(first, first + shown);
  const after = isPrinted ? 0 : rows.length - first - visible.length;
  const scroll = (event: UIEvent<HTMLElement>): void => setTop(Math.floor(event.currentTarget.scrollTop / ROW_PIXELS));

  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={style.scroll} onScroll={scroll} tabIndex={0} aria-label={texts.answer.table}>
        <table
          className={`${style.table} ${BARRED.includes(answer.mode) ? style.barred : ''}`}
          style={roomOf(columns)}
          aria-rowcount={rows.length + 1}
          aria-label={name}
        >
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.name} column={column} refine={refine} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Blank rows={first} columns={columns.length} />
            {visible.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of an answer keep their places
              <tr key={first + index} aria-rowindex={first + index + 2}>
                {columns.map((column) => {
                  const cell = row[column.name];
                  const text = showCell(column, cell, timezone);
                  const act = choose(column, cell ?? null);
                  const share = bar?.name === column.name ? (numberIn(row, column.name) ?? 0) / bar.max : undefined;
                  const values = filteredBy.map(({ name }) => [name, row[name] ?? null] as const);
                  const filter = share === undefined ? undefined : filterOf(values, refine);
                  return (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: the values of the row are buttons for keys
                    <td
                      key={column.name}
                      className={`${isNumeric(column.kind) ? style.number : cell === null ? style.none : ''} ${filter ? style.active : ''}`}
                      onClick={filter}
                      title={text.length > CUT_MIN ? text : undefined}
                    >
                      {share !== undefined && <Bar share={share} />}
                      {PERSON.includes(column.name) && typeof cell === 'string' ? (
                        <Link className={style.refine} href={`/projects/${projectId}/people${toPerson(cell)}`}>
                          {text}
                        </Link>
                      ) : act !== undefined ? (
                        <button
                          type="button"
                          className={style.refine}
                          title={texts.answer.only(column.name, text)}
                          onClick={act}
                        >
                          {text}
                        </button>
                      ) : (
                        text
                      )}
                      {partial.has(keyOf(column.name, cell)) && (
                        <PartMark
                          part={partOfBucket(column.name, cell, { period: answer.period, timeZone: timezone })}
                        />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
            <Blank rows={after} columns={columns.length} />
          </tbody>
        </table>
      </section>
      {isPrinted && rows.length > shown && <p>{texts.answer.onlyFirst(shown, answer.total)}</p>}
      {answer.total > rows.length && (
        <p className={style.more}>
          {texts.answer.rows(rows.length, answer.total)}
          {rows.length < ROWS_MAX && showAll ? (
            <button type="button" className="button small" onClick={showAll}>
              {texts.answer.more}
            </button>
          ) : (
            <span className="muted"> {texts.answer.truncated}</span>
          )}
        </p>
      )}
    </>
  );
}

/** How many columns share the width of a table with bars (table.module.css). */
function roomOf(columns: readonly ShownColumn[]): CSSProperties {
  const numbers = columns.filter(({ kind }) => isNumeric(kind)).length;
  return { '--numbers': numbers, '--texts': Math.max(1, columns.length - numbers) } as CSSProperties;
}

const PRINT = matchMedia('print');

function onPrint(listen: () => void): () => void {
  PRINT.addEventListener('change', listen);
  return () => PRINT.removeEventListener('change', listen);
}

/** Reads every row of the answer, so it is kept while the table scrolls. */
function readColumns(answer: Answer, timezone: string) {
  const columns = inReadingOrder(columnsOf(answer));
  return {
    columns,
    bar: barOf(answer, columns),
    groups: GROUPED.includes(answer.mode) ? splitColumns(answer).groups.map(({ name }) => name) : [],
    name: nameOf(answer, columns, timezone),
    partial: new Set(
      (answer.metadata?.partial ?? []).flatMap((row) =>
        Object.entries(row).map(([column, cell]) => keyOf(column, cell)),
      ),
    ),
  };
}

const keyOf = (column: string, cell: Cell | undefined): string => `${column} ${String(cell)}`;

/** How a bucket is partial: whether it is the one that is still running. */
function partOfBucket(column: string, cell: Cell | undefined, of: Parameters<typeof partOf>[2]): 'so far' | 'partial' {
  const unit = timeUnitOf(column);
  return unit !== undefined && partOf(unit, String(cell), of) === 'so far' ? 'so far' : 'partial';
}

const PartMark = ({ part }: { readonly part: 'so far' | 'partial' }) => (
  <em className={style.part} title={part === 'so far' ? texts.answer.isRunning : texts.answer.isPartial}>
    {part === 'so far' ? texts.answer.soFar : texts.answer.partial}
  </em>
);

/** States how many rows of what, and the first. */
function nameOf({ rows, total }: Answer, columns: readonly ShownColumn[], timezone: string): string {
  const [first] = rows;
  const values =
    first && columns.slice(0, NAMED_COLUMNS_MAX).map((column) => showCell(column, first[column.name], timezone));
  const names = columns.slice(0, NAMED_COLUMNS_MAX).map(({ name }) => name);
  return texts.answer.tableOf(texts.answer.rows(rows.length, total), names.join(', '), values?.join(', '));
}

/** What a click on a value, or on the bar of a row, asks: only events with all of the values. */
function filterOf(values: Parameters<Refinements['where']>[0], refine: Props['refine']): (() => void) | undefined {
  if (refine?.where === undefined || values.length === 0) return undefined;
  return refine.isFilterable?.(values) === false ? undefined : () => refine.where?.(values);
}

/** Sorts by its column where the query takes that. */
function Head({ column: { name, kind }, refine }: Pick<Props, 'refine'> & { readonly column: ShownColumn }) {
  const isSorted = refine?.sorted?.column === name;
  const direction = isSorted && refine?.sorted?.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" className={isNumeric(kind) ? style.number : undefined} aria-sort={isSorted ? direction : undefined}>
      {refine?.sortable?.has(name) ? (
        <button
          type="button"
          className={style.sort}
          title={texts.answer.sortBy(name)}
          onClick={() => refine.sort?.(name)}
        >
          {name}
          {isSorted && <span aria-hidden="true">{direction === 'descending' ? ' ↓' : ' ↑'}</span>}
        </button>
      ) : (
        name
      )}
    </th>
  );
}

/** Takes the room of rows that are not in the document. */
function Blank({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} className={style.blank} style={{ height: rows * ROW_PIXELS }} />
    </tr>
  );
}

const Bar = ({ share }: { readonly share: number }) => (
  <span className={style.bar} aria-hidden="true" style={{ inlineSize: `${Math.max(0, share) * 100}%` }} />
);

/** Columns whose values are ids of people, each of whom has a page. */
const PERSON = ['distinct_id', 'user_id'];
/** Modes whose answers have groups in their first columns. */
const GROUPED = ['aggregate', 'formula', 'user', 'choice'];
const BARRED = ['aggregate', 'inspect', 'stickiness', 'paths', 'latest_aggregate'];

/** The column that is drawn as bars: the numbers of groups. */
function barOf({ mode, rows }: Answer, columns: readonly ShownColumn[]): { name: string; max: number } | undefined {
  const column = columns.find(({ kind }) => kind === 'number' || kind === 'percent');
  if (!BARRED.includes(mode) || column === undefined || columns.length < 2 || rows.length < 2) return undefined;
  const values = rows.map((row) => numberIn(row, column.name) ?? 0);
  const max = values.reduce((most, value) => Math.max(most, value), 0);
  return max > 0 && values.every((value) => value >= 0) ? { name: column.name, max } : undefined;
}
