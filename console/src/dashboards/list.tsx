// The dashboards of a project, those of a person before those of all.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { day, localDate } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { listQuery } from '../api/dashboard-list.js';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import { Dialog } from '../shell/dialog.js';
import { Icon } from '../shell/icon.js';
import { useSearch } from '../shell/search-field.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import { createNamed } from './create.js';
import style from './dashboards.module.css';
import { Failure } from './source-text.js';

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
      {isCreating && <NewDialog project={project} close={() => setCreating(false)} />}
    </>
  );
}

function NewDialog({ project, close }: { readonly project: Project; readonly close: () => void }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const visibility = form.get('visibility') === 'project' ? 'project' : 'personal';
    setBusy(true);
    try {
      const { id } = await createNamed(project.id, { title: String(form.get('title')), visibility });
      await client.invalidateQueries({ queryKey: ['dashboards', project.id] });
      navigate(`/projects/${project.id}/dashboards/${id}#v=edit`);
    } catch (error) {
      setProblem(messageOf(error, dashboardsTexts.create));
      setBusy(false);
    }
  };
  return (
    <Dialog name={dashboardsTexts.new} close={close} className={style.dialog}>
      <form className={style.form} onSubmit={(event) => void submit(event)}>
        <h2>{dashboardsTexts.new}</h2>
        <label>
          {dashboardsTexts.title}
          <input className="field" name="title" required maxLength={200} autoFocus />
        </label>
        {project.role !== 'member' && (
          <label>
            {dashboardsTexts.visibility}
            <select className="field" name="visibility">
              <option value="personal">{dashboardsTexts.personal}</option>
              <option value="project">{dashboardsTexts.shared}</option>
            </select>
          </label>
        )}
        <Failure text={problem} />
        <div className={style.tools}>
          <button type="button" className="button" onClick={close}>
            {dashboardsTexts.cancel}
          </button>
          <button type="submit" className="button primary" disabled={isBusy}>
            {dashboardsTexts.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
