// The form of a new report, which is added to the text of a dashboard of the project that no
// repository syncs.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Pending } from '../answer/pending.js';
import { listQuery } from '../api/dashboard-list.js';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import dashboards from '../dashboards/dashboards.module.css';
import editing from '../dashboards/editing.module.css';
import { Failure } from '../dashboards/source-text.js';
import { Dialog } from '../shell/dialog.js';
import { textOf, useKeptFields } from '../shell/kept-fields.js';
import { alertTexts } from '../texts/alerts.js';
import style from './alerts.module.css';
import { addReport, type Report } from './api.js';
import { DAYS, reportId, toTargets } from './document.js';
import { TargetsField } from './targets-field.js';

const words = alertTexts.reports.form;

interface Props {
  readonly project: Project;
  readonly reports: readonly Report[];
  /** Id of the dashboard to send, or empty. */
  readonly dashboard: string;
  readonly close: () => void;
  /** Closes it when nothing was added. */
  readonly cancel: () => void;
}

export function NewReportDialog({ project, reports, dashboard, close, cancel: leave }: Props) {
  const { kept, forget, props: keptFields } = useKeptFields(`report.${project.id}.${dashboard}`);
  const [to, setTo] = useState(textOf(kept.to) ?? '');
  const [chosen, setChosen] = useState(textOf(kept.dashboard) ?? dashboard);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();
  const request = useQuery(listQuery(project.id));
  const { data } = request;
  const sendable = data?.filter(({ visibility, synced_at: syncedAt }) => visibility === 'project' && syncedAt === null);
  const asked = data?.find(({ id }) => id === dashboard);
  const isThere = sendable?.some(({ id }) => id === chosen);
  const first = asked === undefined ? sendable?.[0]?.id : undefined;
  const cancel = (): void => {
    forget();
    leave();
  };
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [id, day] = [String(fields.get('dashboard')), String(fields.get('day'))];
    const taken = reports.filter((report) => report.dashboard?.id === id).map(({ key }) => key);
    setProblem(undefined);
    setBusy(true);
    try {
      await addReport(project.id, id, {
        id: reportId(day, taken),
        at: `${day} ${String(fields.get('time'))}`,
        to: toTargets(to),
      });
      await Promise.all([
        client.invalidateQueries({ queryKey: ['reports', project.id] }),
        client.invalidateQueries({ queryKey: ['dashboard', project.id, id] }),
      ]);
      forget();
      close();
    } catch (error) {
      setProblem(messageOf(error, words.add));
      setBusy(false);
    }
  };
  return (
    <Dialog name={words.new} close={cancel} className={dashboards.dialog}>
      <form {...keptFields} className={dashboards.form} onSubmit={(event) => void submit(event)}>
        <h2>{words.new}</h2>
        <Pending of={request} />
        {asked !== undefined && sendable?.includes(asked) === false && (
          <p>{asked.synced_at === null ? words.isPersonal(asked.title) : words.isSynced(asked.title)}</p>
        )}
        {sendable?.length === 0 && asked === undefined && <p>{words.nothingToSend}</p>}
        {sendable !== undefined && (
          <label>
            {words.dashboard}
            <select
              className="field"
              name="dashboard"
              required
              value={isThere ? chosen : (first ?? '')}
              onChange={({ target }) => setChosen(target.value)}
            >
              <option value="">{words.choose}</option>
              {sendable.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className={editing.pair}>
          <label>
            {words.day}
            <select className="field" name="day" defaultValue="monday">
              {DAYS.map((day) => (
                <option key={day} value={day}>
                  {words.days[day]}
                </option>
              ))}
            </select>
          </label>
          <label>
            {words.time}
            <input className="field" name="time" type="time" required defaultValue="08:00" />
            <span className={style.hint}>{words.timeNote(project.timezone)}</span>
          </label>
        </div>
        <TargetsField value={to} onChange={setTo} note={words.toNote} />
        <Failure text={problem} />
        <div className={dashboards.tools}>
          <button type="button" className="button" onClick={cancel}>
            {alertTexts.form.cancel}
          </button>
          <button type="submit" className="button primary" disabled={isBusy || sendable === undefined}>
            {words.add}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
