// One alert: what it asks, its state, what it would send now, and its last checks.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { FailedAnswer } from '../answer/failed-answer.js';
import { duration, instant } from '../answer/format.js';
import { toFragment } from '../ask/permalink.js';
import { isAtLeast, type Project } from '../boot.js';
import { toAddress } from '../dashboards/address.js';
import { listQuery } from '../dashboards/api.js';
import { messageOf } from '../dashboards/use-draft.js';
import { Icon } from '../shell/icon.js';
import { alertTexts as words } from '../texts/alerts.js';
import style from './alerts.module.css';
import { type Alert, checksQuery, type DryRun, dryRunAlert } from './api.js';
import { Checks } from './checks.js';
import { DryRunResult } from './dry-run-result.js';
import { lastOf, State, sinceOf } from './list.js';

interface Props {
  readonly project: Project;
  readonly alert: Alert;
}

export function AlertDetail({ project, alert }: Props) {
  const { id, key, query, when, to, timezone } = alert;
  const checks = useQuery(checksQuery(project.id, id));
  const [result, setResult] = useState<DryRun>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const dryRun = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setResult(undefined);
    try {
      setResult(await dryRunAlert(project.id, id));
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <header className={style.head}>
        <div className={style.itemHead}>
          <h1>{key}</h1>
          <State state={alert.state} />
        </div>
        <div className={style.tools}>
          <button type="button" className="button" disabled={isBusy} onClick={() => void dryRun()}>
            <Icon name="play" size={16} />
            {words.dryRun}
          </button>
          <Link className="button" href={`/projects/${project.id}/ask${toFragment({ q: query, tz: timezone })}`}>
            <Icon name="ask" size={16} />
            {words.ask}
          </Link>
        </div>
      </header>
      {problem !== undefined && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      {result !== undefined && <DryRunResult result={result} state={alert.state} />}
      <section className={`card ${style.card}`} aria-label={words.about}>
        <dl className={style.record}>
          <dt>{words.query}</dt>
          <dd>
            <code>{query}</code>
          </dd>
          <dt>{words.when}</dt>
          <dd>
            <code>{when}</code>
          </dd>
          <dt>{words.state}</dt>
          <dd>{sinceOf(alert)}</dd>
          <dt>{words.lastCheck}</dt>
          <dd>{lastOf(alert)}</dd>
          <dt>{words.nextCheck}</dt>
          <dd>
            {instant(alert.next_due_at, timezone)} · {words.every(duration(alert.every_seconds))} · {timezone}
          </dd>
          <dt>{words.to}</dt>
          <dd>{to.join(', ')}</dd>
          <dt>{words.writtenIn}</dt>
          <dd>
            <Source project={project} alert={alert} />
          </dd>
        </dl>
      </section>
      {checks.error ? (
        <FailedAnswer failure={checks.error} retry={() => void checks.refetch()} />
      ) : (
        checks.data !== undefined && <Checks checks={checks.data} timezone={timezone} />
      )}
    </>
  );
}

/** The dashboard; where its text is edited here, at the line of the alert. */
function Source({ project, alert: { dashboard, key } }: Props) {
  const { data } = useQuery(listQuery(project.id));
  const found = data?.find(({ id }) => id === dashboard.id);
  const isSynced = found !== undefined && found.synced_at !== null;
  const path = `/projects/${project.id}/dashboards/${dashboard.id}`;
  return (
    <>
      <Link href={path}>{dashboard.title}</Link>
      {isSynced && ` · ${words.synced}`}
      {found !== undefined && !isSynced && isAtLeast(project.role, 'admin') && (
        <>
          {' · '}
          <Link href={`${path}${toAddress({ view: 'edit', values: {}, alert: key })}`}>{words.editText}</Link>
        </>
      )}
    </>
  );
}
