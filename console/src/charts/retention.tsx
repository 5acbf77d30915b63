// Retention as a triangle: a row for each cohort, a column for each period after its start. Cells
// of periods that are not complete are hatched; a blue ground grows darker with the share, and the
// share is always written.
import { numberIn } from '../answer/columns.js';
import { exact, percent } from '../answer/format.js';
import type { Answer, Row } from '../api/answer.js';
import { drawingTexts } from '../texts/drawings.js';
import { plural } from '../texts/plural.js';
import { texts } from '../texts.js';
import { type Average, averageAt, type Cohort, cohortsOf, incompleteIn } from './cohorts.js';
import style from './retention.module.css';

interface Props {
  readonly answer: Answer;
  /** Lists people: its stage. */
  readonly people?: ((stage: string) => void) | undefined;
}

export function Retention({ answer, people }: Props) {
  const cohorts = cohortsOf(answer);
  const last = Math.max(0, ...cohorts.flatMap(({ cells }) => [...cells.keys()]));
  const periods = Array.from({ length: last + 1 }, (_, index) => index);
  const isIncomplete = incompleteIn(answer);
  const nameOf = (period: number): string => `${answer.metadata.granularity ?? 'period'} ${period}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={style.scroll} tabIndex={0} aria-label={drawingTexts.cohorts}>
      <table className={style.table}>
        <caption className="unseen">
          {drawingTexts.returned}
          {resultOf(cohorts, isIncomplete, nameOf(1))}
        </caption>
        <thead>
          <tr>
            <th scope="col">{drawingTexts.cohort}</th>
            <th scope="col" className={style.number}>
              {drawingTexts.people}
            </th>
            {periods.map((period) => (
              <th key={period} scope="col" className={style.period}>
                {people === undefined ? (
                  nameOf(period)
                ) : (
                  <button
                    type="button"
                    className={style.choose}
                    title={drawingTexts.whoAt(nameOf(period))}
                    onClick={() => people(`people at ${period}`)}
                  >
                    {nameOf(period)}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ key, label, size, cells }) => {
            return (
              <tr key={key}>
                <th scope="row">{label}</th>
                <td className={style.number}>{exact(size)}</td>
                {periods.map((period) => (
                  <Cell key={period} row={cells.get(period)} isIncomplete={isIncomplete} />
                ))}
              </tr>
            );
          })}
        </tbody>
        {cohorts.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">{drawingTexts.average}</th>
              <td className={style.number}>{exact(cohorts.reduce((sum, { size }) => sum + size, 0))}</td>
              {periods.map((period) => (
                <AverageCell key={period} average={averageAt(cohorts, period, isIncomplete)} />
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** The share of all complete cohorts that returned in the first period after their start. */
function resultOf(cohorts: readonly Cohort[], isIncomplete: (row: Row) => boolean, second: string): string {
  const average = averageAt(cohorts, 1, isIncomplete);
  if (average === undefined) return '';
  return drawingTexts.returnedBy(
    plural(average.size, 'person', 'people'),
    percent(average.users / average.size),
    second,
  );
}

function AverageCell({ average }: { readonly average: Average | undefined }) {
  if (average === undefined) return <td className={style.blank} />;
  const { size, users } = average;
  return (
    <td
      className={style.cell}
      style={{ '--share': `${Math.round((users / size) * 100)}%` } as React.CSSProperties}
      title={drawingTexts.convertedOf(exact(users), plural(size, 'person', 'people'))}
    >
      {percent(users / size)}
    </td>
  );
}

interface CellProps {
  readonly row: Row | undefined;
  readonly isIncomplete: (row: Row) => boolean;
}

function Cell({ row, isIncomplete }: CellProps) {
  const rate = row === undefined ? null : numberIn(row, 'rate');
  if (row === undefined || rate === null) return <td className={style.blank} />;
  const isRunning = isIncomplete(row);
  const before = numberIn(row, 'previous_rate');
  const notes = [
    plural(numberIn(row, 'users') ?? 0, 'person', 'people'),
    ...(before === null ? [] : [texts.charts.before(percent(before))]),
    ...(isRunning ? [texts.answer.soFar] : []),
  ];
  return (
    <td
      className={`${style.cell} ${isRunning ? style.running : ''}`}
      style={{ '--share': `${Math.round(rate * 100)}%` } as React.CSSProperties}
      title={notes.join(', ')}
    >
      {percent(rate)}
    </td>
  );
}
