// Actions menu of a dashboard: print, versions, text, copy, delete.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { LINKED } from '../alerts/new-in-address.js';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import { Dialog } from '../shell/dialog.js';
import { Menu, MenuActions } from '../shell/menu.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { texts } from '../texts.js';
import { setAddress } from './address.js';
import { type Dashboard, deleteDashboard, type Values } from './api.js';
import { createCopy } from './create.js';
import style from './dashboards.module.css';
import { Failure } from './source-text.js';

/** For a card to ask after it is shown, and to draw after its answer came. */
const SETTLED_MS = 200;

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
  readonly values: Values;
}

export function MoreMenu({ project, dashboard, values }: Props) {
  const [note, setNote] = useState<string>();
  const [isDeleting, setDeleting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const list = `/projects/${project.id}/dashboards`;
  const attempt = async (action: string, act: () => Promise<string | undefined>): Promise<void> => {
    setBusy(true);
    try {
      setNote(await act());
    } catch (error) {
      setNote(messageOf(error, action));
    } finally {
      setBusy(false);
    }
  };
  const print = () =>
    attempt(dashboardsTexts.print, async () => {
      setNote(texts.loading);
      // The cards that were not seen ask now (card.tsx). A browser waits for none when it prints.
      window.dispatchEvent(new Event('beforeprint'));
      do await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
      while (client.isFetching() > 0);
      window.print();
      return undefined;
    });
  const copyText = () =>
    attempt(dashboardsTexts.copyText, async () => {
      await navigator.clipboard.writeText(dashboard.source_yaml);
      return texts.ask.copied;
    });
  const isPersonal = dashboard.visibility === 'personal';
  const copy = () =>
    attempt(isPersonal ? dashboardsTexts.saveForProject : dashboardsTexts.saveAsMine, async () => {
      setNote(texts.inProgress);
      const { key, source_yaml } = dashboard;
      const visibility = isPersonal ? 'project' : 'personal';
      const { id } = await createCopy(project.id, { key, source_yaml, visibility });
      await client.invalidateQueries({ queryKey: ['dashboards', project.id] });
      navigate(`${list}/${id}`);
      return undefined;
    });
  const remove = () =>
    attempt(dashboardsTexts.delete, async () => {
      await deleteDashboard(project.id, dashboard.id);
      // The list must not show it until it has been read again.
      client.removeQueries({ queryKey: ['dashboards', project.id] });
      navigate(list);
      return undefined;
    });
  const askToDelete = (): void => {
    setNote(undefined);
    setDeleting(true);
  };
  const isAdmin = project.role !== 'member';
  const items = [
    [dashboardsTexts.print, print],
    [
      dashboardsTexts.reports,
      () => navigate(`/projects/${project.id}/alerts/reports#new=${dashboard.id}`, { state: LINKED }),
    ],
    [dashboardsTexts.versions, () => setAddress({ view: 'versions', values })],
    [dashboardsTexts.copyText, copyText],
    ...(!isPersonal ? [[dashboardsTexts.saveAsMine, copy] as const] : []),
    ...(isPersonal && isAdmin ? [[dashboardsTexts.saveForProject, copy] as const] : []),
    ...(isPersonal || isAdmin ? [[dashboardsTexts.delete, askToDelete] as const] : []),
  ] as const;
  return (
    <>
      <Menu label={dashboardsTexts.more} className="button" side="right">
        {(close) => <MenuActions actions={items} close={close} />}
      </Menu>
      <span role="status" className="muted">
        {!isDeleting && note}
      </span>
      {isDeleting && (
        <Dialog name={dashboardsTexts.delete} close={() => setDeleting(false)} className={style.dialog}>
          <div className={style.form}>
            <h2>{dashboardsTexts.deleteThis(dashboard.title)}</h2>
            <p className="muted">{dashboardsTexts.deleteNote}</p>
            <Failure text={note} />
            <div className={style.tools}>
              <button type="button" className="button" onClick={() => setDeleting(false)}>
                {dashboardsTexts.cancel}
              </button>
              <button type="button" className="button danger" disabled={isBusy} onClick={() => void remove()}>
                {dashboardsTexts.deleteIt}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
