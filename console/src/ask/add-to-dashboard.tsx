// Puts a question on a dashboard: one click opens the list, the next one adds the card.
import { lazy, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import { LazyDialog } from '../shell/lazy-dialog.js';
import { Menu } from '../shell/menu.js';
import { texts } from '../texts.js';
import type { Added } from './dashboard-choices.js';
import style from './history-menu.module.css';

const NewDashboard = lazy(() =>
  import('../dashboards/new-dashboard.js').then((module) => ({ default: module.NewDashboard })),
);
const Choices = lazy(() => import('./dashboard-choices.js').then((module) => ({ default: module.DashboardChoices })));

interface Props {
  readonly project: Project;
  readonly q: string;
}

export function AddToDashboard({ project, q }: Props) {
  const [added, setAdded] = useState<Added>();
  const [card, setCard] = useState<string>();
  const [note, setNote] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: of another question, nothing is said
  useEffect(() => {
    setAdded(undefined);
    setNote(undefined);
  }, [q]);
  const attempt = async (act: () => Promise<Added>): Promise<void> => {
    setNote(texts.inProgress);
    setAdded(undefined);
    try {
      setAdded(await act());
      setNote(undefined);
    } catch (error) {
      setNote(messageOf(error, texts.ask.dashboard.add));
    }
  };
  const label = (
    <>
      <Icon name="dashboards" size={16} />
      <span className={style.label}>{texts.ask.dashboard.add}</span>
    </>
  );
  return (
    <>
      <span role="status" className="muted">
        {note}
        {added !== undefined && (
          <Link href={`/projects/${project.id}/dashboards/${added.id}`}>
            {texts.ask.dashboard.addedTo(added.title)}
          </Link>
        )}
      </span>
      <Menu label={label} name={texts.ask.dashboard.add} side="right">
        {(close) => (
          <Suspense fallback={null}>
            <Choices
              project={project}
              q={q}
              choose={(act) => {
                close();
                void attempt(act);
              }}
              create={(made) => {
                close();
                setCard(made);
              }}
            />
          </Suspense>
        )}
      </Menu>
      {card !== undefined && (
        <LazyDialog close={() => setCard(undefined)}>
          <NewDashboard project={project} card={card} close={() => setCard(undefined)} />
        </LazyDialog>
      )}
    </>
  );
}
