// The document that has an alert or a report: definitions, or a dashboard, with a link to the line
// where its text is edited here.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { listQuery } from '../api/dashboard-list.js';
import { isAtLeast, type Project } from '../boot.js';
import { toAddress } from '../dashboards/address.js';
import type { ItemPlace } from '../dashboards/item-line.js';
import { alertTexts as words } from '../texts/alerts.js';
import { texts } from '../texts.js';
import type { Alert } from './api.js';

interface Props {
  readonly project: Project;
  readonly item: Pick<Alert, 'dashboard' | 'written_in'>;
  readonly place: ItemPlace;
}

export function WrittenIn({ project, item: { dashboard, written_in: where }, place }: Props) {
  const { data } = useQuery(listQuery(project.id));
  const found = data?.find(({ id }) => id === dashboard?.id);
  const isSynced = found !== undefined && found.synced_at !== null;
  if (where === 'definitions' || dashboard === null) {
    return <Link href={`/projects/${project.id}/definitions`}>{texts.nav.definitions}</Link>;
  }
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
