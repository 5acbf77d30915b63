// The demo shop: the button that loads it, the progress, and the questions to ask it. A worker of
// the service loads it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { exact } from '../answer/format.js';
import { type DemoState, demoKey, demoPath, demoQuery } from '../api/demo.js';
import { messageOf } from '../api/message-of.js';
import { postJson, request } from '../api/request.js';
import { type Boot, isAtLeast, type Project } from '../boot.js';
import { Dialog } from '../shell/dialog.js';
import { startTexts } from '../texts/start.js';
import { texts } from '../texts.js';
import style from './start.module.css';

const POLL_MS = 500;
const isRunning = (state: DemoState | undefined): boolean => state?.status === 'waiting' || state?.status === 'loading';

/** Loads the demo shop, in projects with events of their own. */
export function Demo({ project, boot }: { readonly project: Project; readonly boot: Boot }) {
  const client = useQueryClient();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isAdmin = isAtLeast(project.role, 'admin');
  const { data } = useQuery({
    ...demoQuery(project),
    refetchInterval: ({ state }) => (isRunning(state.data) ? POLL_MS : false),
  });
  if (data === undefined || (data.status === 'none' && !isAdmin)) return null;
  const load = async (): Promise<void> => {
    setProblem(undefined);
    setBusy(true);
    try {
      const state = await postJson<DemoState>(demoPath(project), {});
      client.setQueryData(demoKey(project), state);
    } catch (error) {
      setProblem(messageOf(error, startTexts.demo.load));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className={`card ${style.card} ${style.side}`} aria-labelledby="demo">
      <h2 id="demo">{startTexts.demo.title}</h2>
      <p className="muted">{startTexts.demo.note}</p>
      {isRunning(data) && <Progress state={data} />}
      {data.status === 'failed' && (
        <p role="alert" className={style.problem}>
          {startTexts.demo.failed}: {data.error}
        </p>
      )}
      {problem !== undefined && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      {isAdmin && (data.status === 'none' || data.status === 'failed') && (
        <p>
          <button type="button" className="button primary" disabled={isBusy} onClick={() => void load()}>
            {startTexts.demo.load}
          </button>
        </p>
      )}
      {data.status === 'ready' && data.project_id !== null && (
        <>
          <p role="status">{startTexts.demo.ready}</p>
          <Questions
            questions={data.questions}
            linkTo={(path, children, className) => {
              const href = `/projects/${data.project_id}${path}`;
              // A page of the server that was loaded before the project does not know it.
              const Element = boot.projects.some(({ id }) => id === data.project_id) ? Link : 'a';
              return (
                <Element href={href} className={className}>
                  {children}
                </Element>
              );
            }}
          />
        </>
      )}
    </section>
  );
}

function Progress({ state: { status, events, share } }: { readonly state: DemoState }) {
  const text =
    status === 'waiting'
      ? startTexts.demo.waiting
      : share < 1
        ? startTexts.demo.progress(exact(events))
        : startTexts.demo.storing;
  return (
    <div className={style.progress}>
      <progress aria-label={startTexts.demo.loading} max={1} value={share} />
      <p role="status" className="muted">
        {text}
      </p>
    </div>
  );
}

/** At the top of the demo shop itself. */
export function DemoHere({ project }: { readonly project: Project }) {
  const { data } = useQuery(demoQuery(project));
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const ask = (): void => {
    setProblem(undefined);
    setAsking(true);
  };
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await request(demoPath(project), { method: 'DELETE' });
      location.assign('/');
    } catch (error) {
      setProblem(messageOf(error, startTexts.demo.deleteIt));
      setBusy(false);
    }
  };
  return (
    <section className={`card ${style.card}`} aria-labelledby="demo">
      <h2 id="demo">{startTexts.demo.here}</h2>
      <p className="muted">{startTexts.demo.hereNote}</p>
      <Questions
        questions={data?.questions ?? []}
        linkTo={(path, children, className) => (
          <Link href={`/projects/${project.id}${path}`} className={className}>
            {children}
          </Link>
        )}
      />
      {isAtLeast(project.role, 'admin') && (
        <p>
          <button type="button" className="button" onClick={ask}>
            {startTexts.demo.delete}
          </button>
        </p>
      )}
      {isAsking && (
        <Dialog name={startTexts.demo.delete} close={() => setAsking(false)} className={style.dialog}>
          <h2>{startTexts.demo.delete}</h2>
          <p>{startTexts.demo.deleteNote}</p>
          {problem !== undefined && (
            <p role="alert" className={style.problem}>
              {problem}
            </p>
          )}
          <div className={style.buttons}>
            <button type="button" className="button" onClick={() => setAsking(false)}>
              {texts.cancel}
            </button>
            <button type="button" className="button danger" disabled={isBusy} onClick={() => void remove()}>
              {startTexts.demo.deleteIt}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

type LinkTo = (path: string, children: ReactNode, className?: string) => ReactNode;

interface QuestionsProps {
  readonly questions: DemoState['questions'];
  readonly linkTo: LinkTo;
}

function Questions({ questions, linkTo }: QuestionsProps) {
  return (
    <>
      <p>{linkTo('/dashboards', startTexts.demo.open, 'button primary')}</p>
      {questions.length > 0 && (
        <>
          <h3>{startTexts.demo.questions}</h3>
          <ul className={style.questions}>
            {questions.map(({ question, q }) => (
              <li key={q}>{linkTo(`/ask#${new URLSearchParams({ q })}`, question)}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
