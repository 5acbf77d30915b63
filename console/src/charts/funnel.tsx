// Steps of a funnel: people who reached each, the share of the first, those who were lost, and the
// time it took. A breakdown has a block for each value.
import { Fragment } from 'react';
import { numberIn } from '../answer/columns.js';
import { compact, duration, exact, percent } from '../answer/format.js';
import type { Answer, Cell, Row } from '../api/answer.js';
import { drawingTexts } from '../texts/drawings.js';
import { texts } from '../texts.js';
import style from './funnel.module.css';
import { blocksOf } from './funnel-blocks.js';

/** Further blocks are only in the table. */
const BLOCKS_MAX = 100;

interface Props {
  readonly answer: Answer;
  /** Filters by the values of a block. */
  readonly where?: ((values: readonly (readonly [string, Cell])[]) => void) | undefined;
  /** Lists people: its stage. */
  readonly people?: ((stage: string) => void) | undefined;
}

export function Funnel({ answer, where, people }: Props) {
  const blocks = blocksOf(answer);
  return (
    <div className={style.blocks}>
      {blocks.slice(0, BLOCKS_MAX).map(({ key, label, cells, rows }) => (
        <section key={key} aria-label={label || undefined}>
          {label !== '' && (
            <h2 className={style.group}>
              {where === undefined ? (
                label
              ) : (
                <button
                  type="button"
                  className={style.choose}
                  title={texts.answer.onlyThis(label)}
                  onClick={() => where(cells)}
                >
                  {label}
                </button>
              )}
            </h2>
          )}
          <Steps rows={rows} people={people} name={`${label === '' ? '' : `${label}: `}${summaryOf(rows)}`} />
        </section>
      ))}
      {blocks.length > BLOCKS_MAX && <p className="muted">{texts.answer.hidden(blocks.length - BLOCKS_MAX)}</p>}
    </div>
  );
}

const summaryOf = (rows: readonly Row[]): string => {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return '';
  const [reached, began] = [numberIn(last, 'users') ?? 0, numberIn(first, 'users') ?? 0];
  return drawingTexts.funnel(exact(reached), exact(began), percent(numberIn(last, 'rate') ?? 0));
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
                {stepRate !== null && <span>{drawingTexts.wentOn(percent(stepRate))}</span>}
                {people === undefined || before === users ? (
                  <span>{drawingTexts.lost(exact(before - users))}</span>
                ) : (
                  <button
                    type="button"
                    className={style.choose}
                    title={drawingTexts.whoLost(exact(before - users))}
                    onClick={() => people(`people lost after ${index}`)}
                  >
                    {drawingTexts.lost(exact(before - users))}
                  </button>
                )}
              </li>
            )}
            <li>
              <div className={style.head}>
                <span className={style.index}>{String(row.step)}</span>
                <span className={style.event}>
                  <strong>{String(row.event ?? texts.answer.none)}</strong>
                  {seconds !== null && <span className="muted">{drawingTexts.median(duration(seconds))}</span>}
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
                {rate > 0 && <div className={style.fill} style={{ inlineSize: `${rate * 100}%` }} />}
              </div>
            </li>
          </Fragment>
        );
      })}
    </ol>
  );
}
