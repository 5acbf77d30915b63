// One alert: what it asks, its state, what it would send now, and its last checks.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { duration, instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { toFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { Failure } from '../dashboards/source-text.js';
import { Icon } from '../shell/icon.js';
import screen from '../shell/screen.module.css';
import { alertTexts as words } from '../texts/alerts.js';
import { texts } from '../texts.js';
import style from './alerts.module.css';
import { type Alert, checksQuery, dryRunAlert } from './api.js';
import { Badge } from './badge.js';
import { Checks } from './checks.js';
import { DryRunResult } from './dry-run-result.js';
import { lastOf, sinceOf } from './list.js';
import { noMailFor } from './no-mail.js';
import { useDryRun } from './use-dry-run.js';
import { WrittenIn } from './written-in.js';

interface Props {
  readonly project: Project;
  readonly alert: Alert;
}

export function AlertDetail({ project, alert }: Props) {
  const { id, key, query, when, to, timezone } = alert;
  const checks = useQuery(checksQuery(project.id, id));
  const { result, problem, isBusy, run } = useDryRun(() => dryRunAlert(project.id, id));
  useEffect(() => {
    document.title = `${key} · ${texts.nav.alerts} · ${project.name}`;
  }, [key, project.name]);
  return (
    <>
      <header className={screen.head}>
        <div className={screen.itemHead}>
          <h1>{key}</h1>
          <Badge of={alert.state} text={words.states[alert.state]} />
        </div>
        <div className={screen.tools}>
          <button type="button" className="button" disabled={isBusy} onClick={run}>
            <Icon name="play" size={16} />
            {words.dryRun}
          </button>
          <Link className="button" href={`/projects/${project.id}/ask${toFragment({ q: query, tz: timezone })}`}>
            <Icon name="ask" size={16} />
            {words.ask}
          </Link>
        </div>
      </header>
      <Failure text={problem} />
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
          <dd>
            {to.join(', ')}
            <p className={style.error}>{noMailFor(to.join())}</p>
          </dd>
          <dt>{words.writtenIn}</dt>
          <dd>
            <WrittenIn project={project} item={alert} place={`alerts.${key}`} />
          </dd>
        </dl>
      </section>
      {checks.error ? (
        <Pending of={checks} />
      ) : (
        checks.data !== undefined && <Checks checks={checks.data} timezone={timezone} />
      )}
    </>
  );
}
