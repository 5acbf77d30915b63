// A dashboard as cards, in sections of twelve columns.
import { useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { FailedAnswer } from '../answer/failed-answer.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { setAddress } from './address.js';
import { type Dashboard, dashboardQuery, filledQuery, isEditableBy, type Values } from './api.js';
import { CardView } from './card.js';
import style from './dashboards.module.css';
import { MoreMenu } from './more-menu.js';
import { fieldsOf, hasOwnRange } from './ranges.js';
import { refreshMs } from './refresh.js';
import { VariableFields } from './variables.js';

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
  readonly values: Values;
}

export function View({ project, dashboard, values }: Props) {
  const { config, synced_at: syncedAt } = dashboard;
  const page = useRef<HTMLElement>(null);
  const timezone = config.timezone ?? project.timezone;
  const { data, error, refetch } = useQuery({
    ...filledQuery(project.id, dashboard, values),
    placeholderData: (before) => before,
  });
  const isEmpty = config.sections.every(({ cards }) => cards.length === 0);
  const isEditable = isEditableBy(project, dashboard);
  const fields = fieldsOf(config);
  const refresh = useRefresh(project.id, dashboard);
  const isRefreshing = useIsFetching({ queryKey: ['card'] }) > 0;
  useEffect(() => {
    document.title = `${dashboard.title} · ${project.name}`;
  }, [dashboard.title, project.name]);
  return (
    <article ref={page} className={style.page}>
      <header className={style.head}>
        <div>
          <h1>{dashboard.title}</h1>
          <p className={style.facts}>
            <span>{timezone}</span>
            {dashboard.visibility === 'personal' && <span className={style.badge}>{dashboardsTexts.personal}</span>}
            {syncedAt !== null && <span className={style.badge}>{dashboardsTexts.synced}</span>}
          </p>
        </div>
        <div className={style.tools}>
          <button type="button" className="button" onClick={refresh} disabled={isRefreshing}>
            <Icon name="refresh" size={16} />
            {dashboardsTexts.refresh}
          </button>
          <button type="button" className="button" onClick={() => void page.current?.requestFullscreen()}>
            <Icon name="full" size={16} />
            {dashboardsTexts.full}
          </button>
          {isEditable && (
            <button type="button" className="button" onClick={() => setAddress({ view: 'edit', values })}>
              <Icon name="edit" size={16} />
              {dashboardsTexts.edit}
            </button>
          )}
          <MoreMenu project={project} dashboard={dashboard} values={values} />
        </div>
      </header>
      <VariableFields
        projectId={project.id}
        timezone={timezone}
        variables={fields}
        values={values}
        choose={(chosen) => setAddress({ view: 'cards', values: chosen })}
      />
      {error && <FailedAnswer failure={error} retry={() => void refetch()} />}
      {isEmpty && (
        <p role="status" className={style.none}>
          {dashboardsTexts.empty}
        </p>
      )}
      {(isEmpty ? [] : config.sections).map((section, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: titles may be the same
        <section key={index} aria-label={section.title}>
          <h2 className={style.section}>{section.title}</h2>
          {section.cards.length === 0 && <p className="muted">{dashboardsTexts.noCardsHere}</p>}
          <div className={style.grid}>
            {section.cards.map((card) => (
              <CardView
                key={card.id}
                projectId={project.id}
                card={card}
                filled={data?.find(({ id }) => id === card.id)}
                isFailed={error !== null}
                timezone={timezone}
                hasOwnRange={hasOwnRange(card, fields)}
                edit={isEditable ? () => setAddress({ view: 'edit', values, card: card.id }) : undefined}
              />
            ))}
          </div>
        </section>
      ))}
    </article>
  );
}

/** Also by itself, as often as the document says, while the page can be seen. */
function useRefresh(projectId: string, { id, config: { refresh: every } }: Dashboard): () => void {
  const client = useQueryClient();
  const refresh = useCallback(() => {
    // It may have been changed in another tab.
    for (const queryKey of [dashboardQuery(projectId, id).queryKey, ['card']]) {
      void client.invalidateQueries({ queryKey });
    }
  }, [client, projectId, id]);
  useEffect(() => {
    const everyMs = refreshMs(every);
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [every, refresh]);
  return refresh;
}
