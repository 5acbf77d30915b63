// The dashboard whose document has an alert or a report; where its text is edited here, with a link
// to the line.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { isAtLeast, type Project } from '../boot.js';
import { toAddress } from '../dashboards/address.js';
import { listQuery } from '../dashboards/api.js';
import type { ItemPlace } from '../dashboards/item-line.js';
import { alertTexts as words } from '../texts/alerts.js';
import type { Alert } from './api.js';

interface Props {
  readonly project: Project;
  readonly dashboard: Alert['dashboard'];
  readonly place: ItemPlace;
}

export function WrittenIn({ project, dashboard, place }: Props) {
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
          <Link href={`${path}${toAddress({ view: 'edit', values: {}, at: place })}`}>{words.editText}</Link>
        </>
      )}
    </>
  );
}
