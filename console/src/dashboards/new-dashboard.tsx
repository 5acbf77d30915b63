// Asks for the title of a new dashboard and who sees it, and opens what was made.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import { Dialog } from '../shell/dialog.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { createNamed } from './create.js';
import style from './dashboards.module.css';
import { Failure } from './source-text.js';

interface Props {
  readonly project: Project;
  /** The first card, as YAML. Without one, the dashboard opens in the editor. */
  readonly card?: string;
  readonly close: () => void;
}

export function NewDashboard({ project, card, close }: Props) {
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
      const title = String(form.get('title'));
      const { id } = await createNamed(project.id, { title, visibility, ...(card !== undefined && { card }) });
      await client.invalidateQueries({ queryKey: ['dashboards', project.id] });
      navigate(`/projects/${project.id}/dashboards/${id}${card === undefined ? '#v=edit' : ''}`);
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
