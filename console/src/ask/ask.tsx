// Screen Ask: query field, chips, answer pane and menus. The query text is the only state; the URL
// fragment holds the query that was run (permalink.ts).
import { lazy, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { AnswerPane } from '../answer/answer-pane.js';
import type { Project } from '../boot.js';
import { Boundary } from '../shell/boundary.js';
import { Icon } from '../shell/icon.js';
import { texts } from '../texts.js';
import { AddToDashboard } from './add-to-dashboard.js';
import style from './ask.module.css';
import { ExplainButton } from './explain-button.js';
import { addToHistory } from './history.js';
import { HistoryMenu } from './history-menu.js';
import { recallFragment, recallText, rememberFragment, rememberText } from './last-question.js';
import { type Asked, parseFragment, setFragment, toFragment, useFragment, type View } from './permalink.js';
import { QueryField } from './query-field.js';
import { ShareMenu } from './share-menu.js';
import { useAnswer } from './use-answer.js';

const Starters = lazy(async () => ({ default: (await import('./starters-list.js')).Starters }));

export function Ask({ project }: { readonly project: Project }) {
  const fragment = useFragment();
  const asked = useMemo(() => parseFragment(fragment), [fragment]);
  const [text, setText] = useState(() => recallText(project.id, asked.q));
  const timezone = asked.tz ?? project.timezone;
  const asking = useAnswer(project.id, asked.q, timezone);
  const { renew, isRunning } = asking;

  // Before the first paint, which would show an empty field.
  useLayoutEffect(() => {
    const last = recallFragment(project.id);
    if (location.hash === '' && last !== '') setFragment(parseFragment(last), { replace: true });
  }, [project.id]);
  useLayoutEffect(() => setText(recallText(project.id, asked.q)), [project.id, asked.q]);
  useEffect(() => {
    if (fragment !== '') rememberFragment(project.id, fragment);
  }, [fragment, project.id]);

  const latest = useRef({ text, asked });
  latest.current = { text, asked };
  const ask = useCallback(
    (question: Asked): void => {
      if (question.q.trim() === '') return;
      addToHistory(project.id, question);
      rememberText(project.id, question.q, question.q);
      setText(question.q);
      renew(question.q, question.tz ?? project.timezone);
      // A link may encode the same question in another way.
      if (toFragment(question) !== toFragment(parseFragment(location.hash))) setFragment(question);
    },
    [project, renew],
  );
  const run = useCallback(() => {
    const { q: _, ...rest } = latest.current.asked;
    ask({ ...rest, q: latest.current.text });
  }, [ask]);
  const askFrom = useCallback((q: string): void => ask({ ...latest.current.asked, q }), [ask]);
  const type = (typed: string): void => {
    rememberText(project.id, asked.q, typed);
    setText(typed);
  };
  const setView = (view: View): void => setFragment({ ...asked, view }, { replace: true });

  return (
    <div className={style.ask}>
      <h1 className="unseen">{texts.ask.title}</h1>
      <section className={`card ${style.question}`} aria-label={texts.ask.query}>
        <QueryField
          projectId={project.id}
          timezone={timezone}
          value={text}
          onChange={type}
          onRun={run}
          apply={(q) => ask({ ...asked, q })}
          rejected={asking.failure !== undefined && text === asked.q ? asking.failure.details : NONE}
        />
        <div className={style.actions}>
          {isRunning ? (
            <button type="button" className={`button ${style.run}`} onClick={asking.cancel}>
              <Icon name="stop" size={16} />
              {texts.ask.cancel}
            </button>
          ) : (
            <button type="button" className={`button primary ${style.run}`} onClick={run} disabled={text.trim() === ''}>
              <Icon name="play" size={16} />
              {texts.ask.run}
            </button>
          )}
          <span className={`muted ${style.hint}`}>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
          <span className={style.gap} />
          <HistoryMenu projectId={project.id} choose={ask} />
          {asked.q !== '' && <ExplainButton projectId={project.id} q={asked.q} timezone={timezone} />}
          {asked.q !== '' && <AddToDashboard project={project} q={asked.q} />}
          {asked.q !== '' && <ShareMenu asked={asked} timezone={timezone} readRows={asking.readRows} />}
        </div>
      </section>
      {asked.q === '' ? (
        <Boundary part="part" of="starters">
          <Suspense fallback={null}>
            <Starters project={project} choose={(q) => ask({ q })} />
          </Suspense>
        </Boundary>
      ) : (
        <AnswerPane
          projectId={project.id}
          asking={asking}
          asked={asked}
          timezone={timezone}
          view={asked.view ?? 'chart'}
          setView={setView}
          ask={askFrom}
          isShownAbove={text === asked.q}
        />
      )}
    </div>
  );
}

const NONE: readonly never[] = [];
