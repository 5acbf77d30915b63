// Puts a question on a dashboard: one click opens the list, the next one adds the card.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Project } from '../boot.js';
import { addCard, listQuery } from '../dashboards/api.js';
import { createNamed } from '../dashboards/create.js';
import { Icon } from '../shell/icon.js';
import { Menu, menuItem, menuTitle } from '../shell/menu.js';
import { texts } from '../texts.js';
import style from './history-menu.module.css';
import { kindOfCard, titleOf, toYamlCard } from './share.js';

interface Props {
  readonly project: Project;
  readonly q: string;
}

export function AddToDashboard({ project, q }: Props) {
  const [added, setAdded] = useState<{ readonly id: string; readonly title: string }>();
  const [problem, setProblem] = useState<string>();
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    setAdded(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const addTo = (id: string) =>
    attempt(async () => {
      setAdded(await addCard(project.id, id, { title: titleOf(q), ...kindOfCard(q), query: q.trim() }));
      await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
    });
  const create = () =>
    attempt(async () => {
      const made = await createNamed(project.id, {
        title: texts.ask.dashboard.mine,
        visibility: 'personal',
        card: toYamlCard(q),
      });
      await client.invalidateQueries({ queryKey: ['dashboards', project.id] });
      navigate(`/projects/${project.id}/dashboards/${made.id}`);
    });
  const label = (
    <>
      <Icon name="dashboards" size={16} />
      <span className={style.label}>{texts.ask.dashboard.add}</span>
    </>
  );
  return (
    <>
      <span role="status" className="muted">
        {problem}
        {added !== undefined && (
          <Link href={`/projects/${project.id}/dashboards/${added.id}`}>
            {texts.ask.dashboard.addedTo(added.title)}
          </Link>
        )}
      </span>
      <Menu label={label} name={texts.ask.dashboard.add} side="right">
        {(close) => (
          <Choices
            project={project}
            q={q}
            choose={(id) => {
              close();
              void (id === undefined ? create() : addTo(id));
            }}
          />
        )}
      </Menu>
    </>
  );
}

interface ChoicesProps extends Props {
  readonly choose: (id: string | undefined) => void;
}

function Choices({ project, q, choose }: ChoicesProps) {
  const { data = [] } = useQuery(listQuery(project.id));
  const writable = data.filter(
    ({ synced_at, visibility }) => synced_at === null && (visibility === 'personal' || project.role !== 'member'),
  );
  return (
    <>
      <button type="button" className={menuItem} onClick={() => choose(undefined)}>
        <Icon name="add" size={16} />
        {texts.ask.dashboard.new}
      </button>
      <Link className={menuItem} href={`/projects/${project.id}/alerts#${new URLSearchParams({ new: q })}`}>
        <Icon name="alert" size={16} />
        {texts.ask.dashboard.alert}
      </Link>
      {writable.length > 0 && <div className={menuTitle}>{texts.nav.dashboards}</div>}
      {writable.map(({ id, title }) => (
        <button key={id} type="button" className={menuItem} onClick={() => choose(id)}>
          {title}
        </button>
      ))}
    </>
  );
}
