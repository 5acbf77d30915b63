// Retention as a triangle: a row for each cohort, a column for each period after its start. Cells of periods that are not
// complete are hatched; a blue ground grows darker with the share, and the share is always written.
import { numberIn } from '../answer/columns.js';
import { day, exact, localDate, percent } from '../answer/format.js';
import type { Answer, Row } from '../api/answer.js';
import { texts } from '../texts.js';
import style from './retention.module.css';

interface Cohort {
  readonly key: string;
  readonly label: string;
  readonly size: number;
  readonly cells: ReadonlyMap<number, Row>;
}

function cohortsOf(answer: Answer): readonly Cohort[] {
  const groups = answer.columns.filter((name) => !['cohort', 'cohort_size', 'period', 'users', 'rate'].includes(name));
  const cohorts = new Map<string, { label: string; size: number; cells: Map<number, Row> }>();
  for (const row of answer.rows) {
    const group = groups.map((name) => String(row[name] ?? texts.answer.none)).join(' · ');
    const key = `${row.cohort} ${group}`;
    const cohort = cohorts.get(key) ?? {
      label: `${day(String(row.cohort))}${group === '' ? '' : ` · ${group}`}`,
      size: numberIn(row, 'cohort_size') ?? 0,
      cells: new Map(),
    };
    cohort.cells.set(numberIn(row, 'period') ?? 0, row);
    cohorts.set(key, cohort);
  }
  return [...cohorts].map(([key, cohort]) => ({ key, ...cohort }));
}

export function Retention({ answer, timezone }: { readonly answer: Answer; readonly timezone: string }) {
  const cohorts = cohortsOf(answer);
  const last = Math.max(0, ...cohorts.flatMap(({ cells }) => [...cells.keys()]));
  const periods = Array.from({ length: last + 1 }, (_, index) => index);
  const running = runningDates(answer, timezone);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={style.scroll} tabIndex={0} aria-label="Cohorts">
      <table className={style.table}>
        <caption className="unseen">Share of each cohort that returned, by period</caption>
        <thead>
          <tr>
            <th scope="col">Cohort</th>
            <th scope="col" className={style.number}>
              People
            </th>
            {periods.map((period) => (
              <th key={period} scope="col" className={style.period}>
                {period}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ key, label, size, cells }) => {
            const lastPeriod = Math.max(...cells.keys());
            return (
              <tr key={key}>
                <th scope="row">{label}</th>
                <td className={style.number}>{exact(size)}</td>
                {periods.map((period) => (
                  <Cell key={period} row={cells.get(period)} isRunning={running && period === lastPeriod} />
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** Whether the period of the answer still runs, so that the last period of each cohort does. */
function runningDates(answer: Answer, timezone: string): boolean {
  const to = answer.period.split('/')[1] ?? '';
  return localDate(to, timezone) === localDate(new Date(Date.now()).toISOString(), timezone);
}

function Cell({ row, isRunning }: { readonly row: Row | undefined; readonly isRunning: boolean }) {
  const rate = row === undefined ? null : numberIn(row, 'rate');
  if (row === undefined || rate === null) return <td className={style.blank} />;
  const users = exact(numberIn(row, 'users') ?? 0);
  return (
    <td
      className={`${style.cell} ${isRunning ? style.running : ''}`}
      style={{ '--share': `${Math.round(rate * 100)}%` } as React.CSSProperties}
      title={`${users} people${isRunning ? `, ${texts.answer.soFar}` : ''}`}
    >
      {percent(rate)}
    </td>
  );
}
