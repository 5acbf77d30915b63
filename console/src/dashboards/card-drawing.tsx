// Draws the answers of a card as its `viz` says, and several queries of one card together.
import type { ReactNode } from 'react';
import { isTimed, toComparable } from '../answer/bucket-data.js';
import { numberIn, splitColumns } from '../answer/columns.js';
import { CutNote } from '../answer/cut.js';
import { beforeOf, drawingOf, type Shape } from '../answer/drawing.js';
import { exact } from '../answer/format.js';
import { Table } from '../answer/table.js';
import type { Answer } from '../api/answer.js';
import { BigNumber, Tiles } from '../charts/big-number.js';
import { Shares } from '../charts/shares.js';
import { Timeline } from '../charts/timeline.js';
import { texts } from '../texts.js';
import type { Card } from './api.js';
import style from './card.module.css';

interface Props {
  readonly card: Card;
  readonly answers: readonly Answer[];
  readonly names: readonly string[];
  readonly timezone: string;
}

const SHAPES: Readonly<Record<string, Shape>> = { line: 'line', area: 'line', bar: 'columns' };

export function CardDrawing({ card, answers, names, timezone }: Props) {
  const [answer] = answers;
  if (answer === undefined) return null;
  if (answers.length === 1) return <Single card={card} answer={answer} timezone={timezone} />;
  if (answers.every((each) => isTimed(each) && each.columns[0] === answer.columns[0])) {
    return drawingOf(toComparable(answers, names), timezone, { shape: SHAPES[card.viz] ?? 'line' });
  }
  if (answers.every(({ rows, columns }) => rows.length === 1 && columns.length === 1)) {
    return <Tiles tiles={answers.map((each, index) => ({ name: names[index] ?? '', text: numberOf(each, card) }))} />;
  }
  return answers.map((each, index) => (
    <section key={names[index]} aria-label={names[index]}>
      <h4 className={style.queryName}>{names[index]}</h4>
      <Single card={card} answer={each} timezone={timezone} />
    </section>
  ));
}

function Single({ card, answer, timezone }: Pick<Props, 'card' | 'timezone'> & { answer: Answer }) {
  const { viz } = card;
  const { groups, measure } = splitColumns(answer);
  const table = <Table answer={answer} timezone={timezone} />;
  if (viz === 'json') return <Json answer={answer} />;
  if (viz === 'table') return table;
  if (viz === 'event-stream') {
    const isStream = ['time', 'event_type'].every((name) => answer.columns.includes(name));
    return isStream ? long(<Timeline answer={answer} timezone={timezone} />) : table;
  }
  if (viz === 'number' && groups.length === 0 && answer.rows.length === 1) {
    const { unit, decimals, percent } = card.options ?? {};
    return (
      <BigNumber
        name={measure.name}
        value={answer.rows[0] === undefined ? null : numberIn(answer.rows[0], measure.name)}
        before={beforeOf(answer, measure)}
        unit={typeof unit === 'string' ? unit : undefined}
        decimals={typeof decimals === 'number' ? decimals : undefined}
        isShare={percent === true}
        isTitled={card.title !== undefined}
      />
    );
  }
  // Below zero, nothing is a part of a whole.
  const hasParts = answer.rows.every((row) => (numberIn(row, measure.name) ?? 0) >= 0);
  if (viz === 'pie' && groups.length > 0 && answer.rows.length > 1 && hasParts) {
    return (
      <>
        <Shares answer={answer} timezone={timezone} />
        <CutNote answer={answer} />
      </>
    );
  }
  const drawing = drawingOf(answer, timezone, { shape: SHAPES[viz] }) ?? table;
  return answer.mode === 'funnel' ? long(drawing) : drawing;
}

/** Scrolls where it is longer than a table may be. */
const long = (list: ReactNode) => (
  // biome-ignore lint/a11y/useSemanticElements: landmarks need names of their own, and groups do not
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <div role="group" className={style.long} tabIndex={0} aria-label={texts.answer.region}>
    {list}
  </div>
);

function numberOf(answer: Answer, { options }: Card): string {
  const value = answer.rows[0] === undefined ? null : numberIn(answer.rows[0], splitColumns(answer).measure.name);
  if (value === null) return '–';
  return typeof options?.unit === 'string' ? `${exact(value)} ${options.unit}` : exact(value);
}

function Json({ answer }: { readonly answer: Answer }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: text that scrolls must be reachable by keyboard */}
      <pre className={style.json} tabIndex={0}>
        {JSON.stringify(
          answer.rows.map((row) => Object.fromEntries(answer.columns.map((name) => [name, row[name]]))),
          null,
          2,
        )}
      </pre>
      <CutNote answer={answer} />
    </>
  );
}
