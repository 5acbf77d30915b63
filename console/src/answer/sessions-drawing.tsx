// Sessions by day: a tile for each figure over the whole period, and a line for the one that is
// chosen.
import { useState } from 'react';
import type { Answer } from '../api/answer.js';
import { Tiles } from '../charts/big-number.js';
import { LineChart } from '../charts/line-chart.js';
import { drawingTexts } from '../texts/drawings.js';
import { texts } from '../texts.js';
import { toDayData } from './bucket-data.js';
import { numberIn, ownColumnsOf, previousOf, type ShownColumn, showNumber } from './columns.js';
import { exact } from './format.js';
import style from './sessions-drawing.module.css';

const NAMES: Readonly<Record<string, string>> = drawingTexts.sessionFigures;

interface Props {
  readonly answer: Answer;
  readonly timezone: string;
  /** Called with the first and the last day over which the pointer was dragged. */
  readonly select?: ((first: number, last: number) => void) | undefined;
}

export function SessionsDrawing({ answer, timezone, select }: Props) {
  const columns = ownColumnsOf(answer).filter(({ name }) => name in NAMES);
  const [chosen, setChosen] = useState('sessions');
  const column = columns.find(({ name }) => name === chosen) ?? columns[0];
  if (column === undefined) return null;
  return (
    <>
      <Tiles
        tiles={columns.map((each) => ({
          name: NAMES[each.name] ?? each.name,
          text: wholeOf(answer, each),
          before: beforeOf(answer, each),
        }))}
      />
      <fieldset className={style.choose}>
        <legend className="unseen">{texts.charts.line}</legend>
        {columns.map(({ name }) => (
          <button
            key={name}
            type="button"
            className="button small"
            aria-pressed={name === column.name}
            onClick={() => setChosen(name)}
          >
            {NAMES[name]}
          </button>
        ))}
      </fieldset>
      <LineChart
        data={toDayData(answer, timezone, column)}
        select={select}
        name={texts.charts.byDay(NAMES[column.name] ?? column.name, wholeOf(answer, column))}
      />
    </>
  );
}

function beforeOf(answer: Answer, column: ShownColumn): string | undefined {
  const name = previousOf(answer, column.name);
  return name === undefined ? undefined : texts.charts.before(wholeOf(answer, { ...column, name }));
}

/** Sessions add up; averages and shares of the days are weighted by their sessions. */
function wholeOf({ rows }: Answer, column: ShownColumn): string {
  const counted = column.name.startsWith('previous_') ? 'previous_sessions' : 'sessions';
  const sessions = rows.reduce((sum, row) => sum + (numberIn(row, counted) ?? 0), 0);
  if (column.name === counted) return exact(sessions);
  if (sessions === 0) return '–';
  const weighted = rows.reduce(
    (sum, row) => sum + (numberIn(row, column.name) ?? 0) * (numberIn(row, counted) ?? 0),
    0,
  );
  const value = weighted / sessions;
  return showNumber(column.kind, column.kind === 'number' ? Math.round(value * 10) / 10 : value);
}
