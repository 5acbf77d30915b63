// Dashboards: the list, or one of them as cards, as text, or with its versions. The last two are
// loaded when they are opened.
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { Pending } from '../answer/pending.js';
import { useFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import { parseAddress } from './address.js';
import { dashboardQuery, isEditableBy } from './api.js';
import style from './dashboards.module.css';
import { hasKeptText } from './kept-text.js';
import { List } from './list.js';
import { View } from './view.js';

const Editor = lazy(async () => ({ default: (await import('./editor.js')).Editor }));
const Versions = lazy(async () => ({ default: (await import('./versions.js')).Versions }));

interface Props {
  readonly project: Project;
  readonly item?: string | undefined;
}

export function Dashboards({ project, item }: Props) {
  return item === undefined ? <List project={project} /> : <One key={item} project={project} id={item} />;
}

function One({ project, id }: { readonly project: Project; readonly id: string }) {
  const address = parseAddress(useFragment());
  const request = useQuery(dashboardQuery(project.id, id));
  const { data, error } = request;
  const list = `/projects/${project.id}/dashboards`;
  const pending =
    error?.status === 404 ? (
      <p role="status" className={style.note}>
        {dashboardsTexts.gone} <Link href={list}>{dashboardsTexts.toList}</Link>
      </p>
    ) : (
      <Pending of={request} />
    );
  const content = () => {
    if (data === undefined) return pending;
    // Text from before the person lost the right, or before the first sync, is not hidden.
    const mayEdit = isEditableBy(project, data) || hasKeptText(id);
    if (address.view === 'edit' && mayEdit)
      return <Editor key={data.version} project={project} dashboard={data} card={address.card} at={address.at} />;
    if (address.view === 'versions') return <Versions project={project} dashboard={data} />;
    return (
      <>
        {address.view === 'edit' && (
          <p role="status" className={style.note}>
            {data.synced_at === null ? dashboardsTexts.memberNote : dashboardsTexts.editedThere}
          </p>
        )}
        {pending}
        <View project={project} dashboard={data} values={address.values} />
      </>
    );
  };
  return (
    <>
      <p className={style.crumb}>
        <Link href={list}>{texts.nav.dashboards}</Link>
      </p>
      <Suspense fallback={<p role="status">{texts.loading}</p>}>{content()}</Suspense>
    </>
  );
}
