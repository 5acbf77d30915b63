// All alerts of the project, those that fire or fail before the others.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { duration, exact, instant } from '../answer/format.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import screen from '../shell/screen.module.css';
import { useSearch } from '../shell/search-field.js';
import { alertTexts as words } from '../texts/alerts.js';
import { texts } from '../texts.js';
import style from './alerts.module.css';
import type { Alert } from './api.js';
import { Badge } from './badge.js';
import { Head } from './head.js';
import { NewAlertDialog } from './new-alert.js';
import { cancelNew, openNew, useNew } from './new-in-address.js';

interface Props {
  readonly project: Project;
  /** Undefined until they have been read once. */
  readonly alerts: readonly Alert[] | undefined;
  /** Says that they load, or why they could not be read. */
  readonly pending: ReactNode;
}

const RANK = { firing: 0, failing: 1, ok: 2 } as const;

export function List({ project, alerts, pending }: Props) {
  const query = useNew();
  const sorted = [...(alerts ?? [])].sort((a, b) => RANK[a.state] - RANK[b.state]);
  const { found, field } = useSearch(sorted, textOf, words.search);
  return (
    <div className={screen.page}>
      <Head project={project} part="alerts" note={sorted.length > 0 && words.summary(sorted.map(({ state }) => state))}>
        <button type="button" className="button primary" onClick={() => openNew('')}>
          <Icon name="add" size={16} />
          {words.new}
        </button>
      </Head>
      {pending}
      {alerts?.length === 0 && (
        <section className={`card ${screen.empty}`}>
          <h2>{words.none}</h2>
          <p className="muted">{words.noneNote}</p>
        </section>
      )}
      {field}
      {found.length > 0 && (
        <ul className={`card ${screen.items}`} aria-label={texts.nav.alerts}>
          {found.map((alert) => (
            <Item key={alert.id} project={project} alert={alert} />
          ))}
        </ul>
      )}
      {query !== null && (
        <NewAlertDialog project={project} query={query} close={() => openNew(undefined)} cancel={cancelNew} />
      )}
    </div>
  );
}

const textOf = ({ key, dashboard, state, when, query }: Alert): string =>
  [key, dashboard?.title, words.states[state], when, query].join(' ');

function Item({ project, alert }: { readonly project: Project; readonly alert: Alert }) {
  const { id, key, dashboard, state, when, query, every_seconds: every } = alert;
  return (
    <li>
      <div className={screen.itemHead}>
        <h2>
          <Link href={`/projects/${project.id}/alerts/${id}`}>{key}</Link>
        </h2>
        <Badge of={state} text={words.states[state]} />
        {dashboard && (
          <Link className={style.dashboard} href={`/projects/${project.id}/dashboards/${dashboard.id}`}>
            {dashboard.title}
          </Link>
        )}
      </div>
      <p className={style.condition}>
        <code>{when}</code>
        <code className={style.query}>{query}</code>
      </p>
      <p className={screen.facts}>
        <span>{sinceOf(alert)}</span>
        <span>{lastOf(alert)}</span>
        <span>{words.every(duration(every))}</span>
      </p>
    </li>
  );
}

export const sinceOf = ({ state, changed_at: changedAt, timezone }: Alert): string =>
  changedAt === null ? words.neverChanged(state) : words.since(state, instant(changedAt, timezone));

export function lastOf({ last_check: last, checked_at: checkedAt, timezone }: Alert): string {
  if (last === null || checkedAt === null) return words.notChecked;
  const at = instant(checkedAt, timezone);
  if (last.outcome === 'failed') return words.failedAt(at);
  return last.value === null ? words.checkedAt(at) : words.valueAt(exact(last.value), at);
}
