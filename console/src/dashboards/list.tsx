// The dashboards of a project, those of a person before those of all.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { day, localDate } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { listQuery } from '../api/dashboard-list.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import { useSearch } from '../shell/search-field.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import style from './dashboards.module.css';
import { NewDashboard } from './new-dashboard.js';

export function List({ project }: { readonly project: Project }) {
  const [isCreating, setCreating] = useState(false);
  const request = useQuery(listQuery(project.id));
  const { data } = request;
  const { found, field } = useSearch(data ?? [], ({ title }) => title, dashboardsTexts.search);
  return (
    <>
      <header className={style.head}>
        <h1>{texts.nav.dashboards}</h1>
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          <Icon name="add" size={16} />
          {dashboardsTexts.new}
        </button>
      </header>
      <Pending of={request} />
      {data?.length === 0 && (
        <section className={`card ${style.empty}`}>
          <h2>{dashboardsTexts.none}</h2>
          <p className="muted">{dashboardsTexts.noneNote}</p>
        </section>
      )}
      {field}
      <ul className={style.list}>
        {found.map((item) => (
          <li key={item.id} className="card">
            <Link href={`/projects/${project.id}/dashboards/${item.id}`} className={style.item}>
              <strong>{item.title}</strong>
              <span className={style.facts}>
                {item.visibility === 'personal' && <span className={style.badge}>{dashboardsTexts.personal}</span>}
                {item.synced_at !== null && <span className={style.badge}>{dashboardsTexts.synced}</span>}
                <span>{dashboardsTexts.changed(day(localDate(item.updated_at, project.timezone)))}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {isCreating && <NewDashboard project={project} close={() => setCreating(false)} />}
    </>
  );
}
