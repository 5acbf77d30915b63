// Steps of a funnel: people who reached each, the share of the first, those who were lost, and the
// time it took. A breakdown has a block for each value.
import { Fragment } from 'react';
import { isCompared, numberIn } from '../answer/columns.js';
import { compact, duration, exact, percent } from '../answer/format.js';
import type { Answer, Cell, Row } from '../api/answer.js';
import { texts } from '../texts.js';
import style from './funnel.module.css';

interface Props {
  readonly answer: Answer;
  /** Filters by the values of a block. */
  readonly where?: ((values: readonly (readonly [string, Cell])[]) => void) | undefined;
  /** Lists people: its stage. */
  readonly people?: ((stage: string) => void) | undefined;
}

export function Funnel({ answer, where, people }: Props) {
  const stepAt = answer.columns.indexOf('step');
  const groups = answer.columns.slice(0, stepAt).filter((column) => !isCompared(answer, column));
  const blocks = new Map<string, Row[]>();
  for (const row of answer.rows) {
    const key = groups.map((group) => String(row[group] ?? texts.answer.none)).join(' · ');
    blocks.set(key, [...(blocks.get(key) ?? []), row]);
  }
  return (
    <div className={style.blocks}>
      {[...blocks].map(([key, rows]) => (
        <section key={key} aria-label={key || undefined}>
          {key !== '' && (
            <h2 className={style.group}>
              {where === undefined ? (
                key
              ) : (
                <button
                  type="button"
                  className={style.choose}
                  title={texts.answer.onlyThis(key)}
                  onClick={() => where(groups.map((group) => [group, rows[0]?.[group] ?? null]))}
                >
                  {key}
                </button>
              )}
            </h2>
          )}
          <Steps rows={rows} people={people} name={`${key === '' ? '' : `${key}: `}${summaryOf(rows)}`} />
        </section>
      ))}
    </div>
  );
}

const summaryOf = (rows: readonly Row[]): string => {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return '';
  const [reached, began] = [numberIn(last, 'users') ?? 0, numberIn(first, 'users') ?? 0];
  return texts.charts.funnel(exact(reached), exact(began), percent(numberIn(last, 'rate') ?? 0));
};

interface StepsProps extends Pick<Props, 'people'> {
  readonly rows: readonly Row[];
  readonly name: string;
}

function Steps({ rows, name, people }: StepsProps) {
  return (
    <ol className={style.steps} aria-label={name}>
      {rows.map((row, index) => {
        const users = numberIn(row, 'users') ?? 0;
        const before = numberIn(rows[index - 1] ?? row, 'users') ?? 0;
        const rate = numberIn(row, 'rate') ?? 0;
        const stepRate = numberIn(row, 'step_rate');
        const seconds = numberIn(row, 'median_seconds');
        const previousRate = numberIn(row, 'previous_rate');
        return (
          <Fragment key={String(row.step)}>
            {index > 0 && (
              <li className={style.between}>
                {stepRate !== null && <span>{texts.charts.wentOn(percent(stepRate))}</span>}
                {people === undefined || before === users ? (
                  <span>{texts.charts.lost(exact(before - users))}</span>
                ) : (
                  <button
                    type="button"
                    className={style.choose}
                    title={texts.charts.whoLost(exact(before - users))}
                    onClick={() => people(`people lost after ${index}`)}
                  >
                    {texts.charts.lost(exact(before - users))}
                  </button>
                )}
              </li>
            )}
            <li className={style.step}>
              <div className={style.head}>
                <span className={style.index}>{String(row.step)}</span>
                <span className={style.event}>
                  <strong>{String(row.event ?? texts.answer.none)}</strong>
                  {seconds !== null && <span className="muted">{texts.charts.median(duration(seconds))}</span>}
                  {previousRate !== null && (
                    <span className="muted"> {texts.charts.before(percent(previousRate))}</span>
                  )}
                </span>
                <span className={style.numbers}>
                  <span className={style.users} title={exact(users)}>
                    {compact(users)}
                  </span>
                  <span className={style.rate}>{percent(rate)}</span>
                </span>
              </div>
              <div className={style.track}>
                <div className={style.fill} style={{ inlineSize: `${rate * 100}%` }} />
              </div>
            </li>
          </Fragment>
        );
      })}
    </ol>
  );
}
