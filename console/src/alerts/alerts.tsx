// Alerts of the project's dashboards: the list, or one of them with its checks; and the reports.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Pending } from '../answer/pending.js';
import type { Project } from '../boot.js';
import screen from '../shell/screen.module.css';
import { alertTexts as words } from '../texts/alerts.js';
import { texts } from '../texts.js';
import { AlertDetail } from './alert-detail.js';
import style from './alerts.module.css';
import { alertsQuery } from './api.js';
import { List } from './list.js';
import { Reports } from './reports.js';

interface Props {
  readonly project: Project;
  /** The id of an alert, or `reports`. */
  readonly item?: string | undefined;
}

export function Alerts({ project, item }: Props) {
  return item === 'reports' ? <Reports project={project} /> : <AlertsOf project={project} item={item} />;
}

function AlertsOf({ project, item }: Props) {
  const request = useQuery(alertsQuery(project.id));
  const { data } = request;
  // The states are read every 15 seconds: a failed reading is named beside those of an earlier one.
  const pending = <Pending of={request} />;
  if (item === undefined) return <List project={project} alerts={data} pending={pending} />;
  const alert = data?.find(({ id }) => id === item);
  return (
    <div className={screen.page}>
      <p className={style.crumb}>
        <Link href={`/projects/${project.id}/alerts`}>{texts.nav.alerts}</Link>
      </p>
      {pending}
      {data !== undefined && alert === undefined && <p role="status">{words.gone}</p>}
      {alert !== undefined && <AlertDetail key={alert.id} project={project} alert={alert} />}
    </div>
  );
}
