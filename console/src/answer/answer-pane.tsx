// Answer pane: shows one of the states of a query (running, cancelled, empty, refused because of
// its text, failed, answered). picture.tsx draws the answer itself.
import { lazy, Suspense, useLayoutEffect, useRef } from 'react';
import type { Asked, View } from '../ask/permalink.js';
import type { Asking } from '../ask/use-answer.js';
import { Boundary } from '../shell/boundary.js';
import { texts } from '../texts.js';
import style from './answer-pane.module.css';
import { EmptyAnswer } from './empty-answer.js';
import { FailedAnswer } from './failed-answer.js';
import { isEmpty } from './is-empty.js';
import { useRefinements } from './use-refinements.js';

// Loaded while the query runs.
const picture = import('./picture.js');
const Picture = lazy(async () => ({ default: (await picture).Picture }));

interface Props {
  readonly asking: Asking;
  readonly projectId: string;
  readonly asked: Asked;
  readonly timezone: string;
  readonly view: View;
  readonly setView: (view: View) => void;
  readonly ask: (q: string) => void;
  /** Whether the text of the query is the one that was asked: its problems stand below it. */
  readonly isShownAbove: boolean;
}

export function AnswerPane({ projectId, asking, asked, timezone, view, setView, ask, isShownAbove }: Props) {
  const { answer, failure, isRunning } = asking;
  const refine = useRefinements(answer, asked.q, ask);
  const pane = useKeptFocus(isRunning);
  return (
    <section
      ref={pane}
      tabIndex={-1}
      className={`card ${style.pane}`}
      aria-label={texts.answer.region}
      aria-busy={isRunning}
    >
      {isRunning && (
        <p className={style.running} role="status">
          <span className={`mark ${style.dot}`} />
          {texts.ask.running(asking.seconds)}
        </p>
      )}
      {asking.isCancelled && <p role="status">{texts.ask.cancelled}</p>}
      {failure !== undefined ? (
        <FailedAnswer failure={failure} retry={asking.runAgain} isShownAbove={isShownAbove} />
      ) : (
        answer !== undefined &&
        !asking.isCancelled && (
          <div className={isRunning ? style.dimmed : undefined} inert={isRunning}>
            {isEmpty(answer) && (
              <EmptyAnswer projectId={projectId} answer={answer} q={asked.q} timezone={timezone} ask={ask} />
            )}
            <Boundary part="answer" of={answer}>
              <Suspense fallback={null}>
                <Picture
                  answer={answer}
                  timezone={timezone}
                  view={isEmpty(answer) ? 'table' : view}
                  setView={setView}
                  showAll={asking.showAll}
                  refine={refine}
                />
              </Suspense>
            </Boundary>
          </div>
        )
      )}
    </section>
  );
}

/**
 * Keeps the focus in the pane: the answer before, which is inert while a query runs, would lose it.
 * It returns to where it was, if that is still there.
 */
function useKeptFocus(isRunning: boolean) {
  const pane = useRef<HTMLElement>(null);
  const before = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (isRunning) {
      if (!(activeElement instanceof HTMLElement) || !pane.current?.contains(activeElement)) return;
      before.current = activeElement;
      pane.current.focus({ preventScroll: true });
    } else {
      if (activeElement === pane.current && before.current?.isConnected) before.current.focus({ preventScroll: true });
      before.current = null;
    }
  }, [isRunning]);
  return pane;
}
