// Results of one experiment: the verdict, the interval of each variant, guards, diagnostics, and
// the query that says all of it.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { Link } from 'wouter';
import { toBucketData } from '../answer/bucket-data.js';
import { type ChoiceResult, readChoice } from '../answer/choice-result.js';
import { splitColumns } from '../answer/columns.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { period } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Answer } from '../api/answer.js';
import { namesQuery } from '../api/names.js';
import { retryFailed } from '../api/retry-failed.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import { toFragment, useFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { Differences, Plan, Remarks, Variants, Verdict } from '../charts/choice.js';
import { LineChart } from '../charts/line-chart.js';
import { CopyButton } from '../start/copy-button.js';
import { experimentTexts } from '../texts/experiments.js';
import { texts } from '../texts.js';
import { Controls } from './controls.js';
import { Diagnostics } from './diagnostics.js';
import style from './experiments.module.css';
import { Guards } from './guards.js';
import { exposuresQuery, formatSetup, guessGoal, parseSetup, resultsQuery, type Setup } from './setup.js';

interface Props {
  readonly project: Project;
  readonly choice: string;
}

export function Experiment({ project, choice }: Props) {
  const fragment = useFragment();
  const setup = useMemo(() => parseSetup(fragment), [fragment]);
  const naming = useQuery(namesQuery(project.id));
  const { data: names } = naming;
  const events = names?.events.map(({ name }) => name);
  const goal = setup.goal ?? (events && guessGoal(events));
  const q = goal === undefined ? undefined : resultsQuery(choice, { ...setup, goal });
  const results = useProjectAnswer(project, q);
  const exposures = useProjectAnswer(project, exposuresQuery(choice, setup), 10_000);
  useEffect(() => {
    document.title = `${choice} · ${texts.nav.experiments} · ${project.name}`;
  }, [choice, project.name]);
  const failed = [results, exposures].find(({ error, isFetching }) => error !== null && !isFetching);
  const change = (next: Partial<Setup>): void => {
    history.pushState(null, '', formatSetup({ ...setup, goal, ...next }));
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  };
  return (
    <>
      <p className={style.crumb}>
        <Link href={`/projects/${project.id}/experiments`}>{experimentTexts.back}</Link>
      </p>
      <header className={style.head}>
        <h1 className={style.title}>{choice}</h1>
        {q !== undefined && results.data !== undefined && (
          <p className="muted">
            {period(results.data.period, project.timezone)} · {project.timezone}
          </p>
        )}
      </header>
      <Controls setup={{ ...setup, goal }} names={names} change={change} />
      {q === undefined && <Pending of={naming} />}
      {q === undefined && goal !== undefined && <p role="status">{experimentTexts.noProperty}</p>}
      {failed?.error && <FailedAnswer failure={failed.error} retry={retryFailed([results, exposures])} />}
      {results.isPending && q !== undefined && <p role="status">{texts.loading}</p>}
      {q !== undefined && results.data !== undefined && !results.error && (
        <Results answer={results.data} choice={choice} project={project} isOld={results.isPlaceholderData} />
      )}
      {exposures.data !== undefined && exposures.data.rows.length > 0 && (
        <section className={`card ${style.card}`} aria-labelledby="exposures">
          <h2 id="exposures">{experimentTexts.exposures}</h2>
          <Exposures answer={exposures.data} timezone={project.timezone} />
        </section>
      )}
      {q !== undefined && <QueryLine project={project} q={q} />}
    </>
  );
}

interface ResultsProps {
  readonly answer: Answer;
  readonly choice: string;
  readonly project: Project;
  /** Whether the answer is of an earlier set-up, while the next one is loaded. */
  readonly isOld: boolean;
}

function Results({ answer, choice, project, isOld }: ResultsProps) {
  const result = readChoice(answer);
  if (result === undefined) return null;
  if (result.variants.length === 0) {
    return (
      <div className={`card ${style.empty}`} role="status">
        <h2>{experimentTexts.nothing(choice)}</h2>
        <p className="muted">{experimentTexts.nothingNote}</p>
      </div>
    );
  }
  return (
    <div className={isOld ? style.dimmed : undefined} aria-busy={isOld}>
      <section className={`card ${style.card}`} aria-label={experimentTexts.result}>
        <Verdict result={result} />
        <Plan result={result} />
        <Remarks result={result} />
        <Variants result={result} />
        <Differences result={result} />
      </section>
      {hasGuards(result) && <Guards result={result} />}
      <Diagnostics result={result} timezone={project.timezone} />
    </div>
  );
}

const hasGuards = ({ diagnostics }: ChoiceResult): boolean => (diagnostics.guards ?? []).length > 0;

function Exposures({ answer, timezone }: { readonly answer: Answer; readonly timezone: string }) {
  const { groups, measure } = splitColumns(answer);
  const { data, hidden } = toBucketData(answer, timezone, { time: 'day', groups, measure, isFromFirst: true });
  return <LineChart data={data} name={experimentTexts.exposures} hidden={hidden} />;
}

function QueryLine({ project, q }: { readonly project: Project; readonly q: string }) {
  return (
    <section className={`card ${style.query}`} aria-label={experimentTexts.query}>
      <code>{q}</code>
      <span className={style.actions}>
        <CopyButton name={experimentTexts.query} text={q} />
        <Link className="button small" href={`/projects/${project.id}/ask${toFragment({ q })}`}>
          {experimentTexts.ask}
        </Link>
      </span>
    </section>
  );
}
