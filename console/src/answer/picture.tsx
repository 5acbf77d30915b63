// Answer as chart or table, with the switch between the two and a caption: rows, period, time zone,
// duration.
import { useEffect } from 'react';
import type { Answer } from '../api/answer.js';
import { ROWS_MAX } from '../api/query.js';
import type { View } from '../ask/permalink.js';
import { texts } from '../texts.js';
import { drawingOf, lacksRows } from './drawing.js';
import { compact, duration, period } from './format.js';
import style from './picture.module.css';
import { Table } from './table.js';
import type { Refinements } from './use-refinements.js';

interface Props {
  readonly answer: Answer;
  readonly timezone: string;
  readonly view: View;
  readonly setView: (view: View) => void;
  readonly showAll: () => void;
  readonly refine: Refinements | undefined;
}

export function Picture({ answer, timezone, view, setView, showAll, refine }: Props) {
  const drawing = drawingOf(answer, timezone, { refine });
  const isTable = drawing === undefined || view === 'table';
  const window = answer.metadata.window_seconds;
  const isPart = !isTable && lacksRows(answer) && answer.rows.length < ROWS_MAX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is another function each time
  useEffect(() => {
    if (isPart) showAll();
  }, [isPart, answer]);
  return (
    <>
      <header className={style.head}>
        <p className={style.facts} role="status">
          <span>{period(answer.period, timezone)}</span>
          <span>{timezone}</span>
          {window !== undefined && <span>{texts.answer.window(duration(window))}</span>}
          <span>{texts.answer.rows(answer.rows.length, answer.total)}</span>
          <span>{answer.elapsed_ms.toLocaleString('en')} ms</span>
          <span>{texts.answer.scanned(answer.rows_scanned, compact(answer.rows_scanned))}</span>
        </p>
        {drawing !== undefined && (
          <fieldset className={style.switch}>
            <legend className="unseen">{texts.answer.view}</legend>
            {(['chart', 'table'] as const).map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={(each === 'table') === isTable}
                onClick={() => setView(each)}
              >
                {texts.answer[each]}
              </button>
            ))}
          </fieldset>
        )}
      </header>
      <Warnings texts={answer.metadata.warnings ?? []} />
      {isTable ? <Table answer={answer} timezone={timezone} showAll={showAll} refine={refine} /> : drawing}
    </>
  );
}

function Warnings({ texts: warnings }: { readonly texts: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul className={style.warnings} aria-label={texts.answer.warnings}>
      {warnings.map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}
