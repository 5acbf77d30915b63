// Where a question can be put: a new dashboard, an alert, or a dashboard that is edited here. It is
// loaded when the menu opens.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { LINKED } from '../alerts/new-in-address.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { listQuery } from '../api/dashboard-list.js';
import type { Project } from '../boot.js';
import { addCard } from '../dashboards/api.js';
import { Icon } from '../shell/icon.js';
import { menuItem, menuTitle } from '../shell/menu.js';
import { useSearch } from '../shell/search-field.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import style from './history-menu.module.css';
import { kindOfCard, titleOf, toYamlCard } from './share.js';

/** The dashboard that has got a card. */
export interface Added {
  readonly id: string;
  readonly title: string;
}

interface Props {
  readonly project: Project;
  readonly q: string;
  /** Closes the menu and runs the action. */
  readonly choose: (act: () => Promise<Added>) => void;
  /** Closes the menu and makes a dashboard of the card, a YAML text. */
  readonly create: (card: string) => void;
}

export function DashboardChoices({ project, q, choose, create }: Props) {
  const { data = [], error, refetch } = useQuery(listQuery(project.id));
  const client = useQueryClient();
  const editedHere = data.filter(({ synced_at }) => synced_at === null);
  const writable = editedHere.filter(({ visibility }) => visibility === 'personal' || project.role !== 'member');
  const ofAdmins = editedHere.length - writable.length;
  const synced = data.length - editedHere.length;
  const { found, field } = useSearch(writable, ({ title }) => title, dashboardsTexts.search);
  const addTo = async (id: string): Promise<Added> => {
    const added = await addCard(project.id, id, { title: titleOf(q), ...kindOfCard(q), query: q.trim() });
    await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
    return added;
  };
  return (
    <>
      <button type="button" className={menuItem} onClick={() => create(toYamlCard(q))}>
        <Icon name="add" size={16} />
        {texts.ask.dashboard.new}
      </button>
      <Link
        className={menuItem}
        href={`/projects/${project.id}/alerts#${new URLSearchParams({ new: q })}`}
        state={LINKED}
      >
        <Icon name="alert" size={16} />
        {texts.ask.dashboard.alert}
      </Link>
      {error && <FailedAnswer failure={error} retry={() => void refetch()} title={texts.ask.dashboard.notLoaded} />}
      {writable.length > 0 && <div className={menuTitle}>{texts.nav.dashboards}</div>}
      {field}
      {found.map(({ id, title }) => (
        <button key={id} type="button" className={menuItem} onClick={() => choose(() => addTo(id))}>
          {title}
        </button>
      ))}
      {ofAdmins > 0 && <p className={style.note}>{dashboardsTexts.editedByAdmins(ofAdmins)}</p>}
      {synced > 0 && <p className={style.note}>{dashboardsTexts.editedInRepository(synced)}</p>}
    </>
  );
}
