// The form of a new alert: it is tried by a dry run, and added to the text of a dashboard of the
// project that no repository syncs, or of a new one. For others it shows the lines to paste.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { FailedAnswer } from '../answer/failed-answer.js';
import { listQuery } from '../api/dashboard-list.js';
import { messageOf } from '../api/message-of.js';
import { QueryField } from '../ask/query-field.js';
import { idOf, toYamlCard } from '../ask/share.js';
import { isAtLeast, type Project } from '../boot.js';
import { createNamed } from '../dashboards/create.js';
import dashboards from '../dashboards/dashboards.module.css';
import editing from '../dashboards/editing.module.css';
import { Failure } from '../dashboards/source-text.js';
import { Dialog } from '../shell/dialog.js';
import { textOf, useKeptFields } from '../shell/kept-fields.js';
import { Snippet } from '../start/snippet.js';
import { alertTexts } from '../texts/alerts.js';
import { texts } from '../texts.js';
import style from './alerts.module.css';
import { addAlert, type DryRun, dryRunNew } from './api.js';
import { conditionFor, type NewAlert, toTargets, toYamlAlert } from './document.js';
import { DryRunResult } from './dry-run-result.js';
import { TargetsField } from './targets-field.js';

const words = alertTexts.form;
const INTERVALS = ['1m', '5m', '15m', '1h', '6h', '1d'] as const;

interface Props {
  readonly project: Project;
  /** What the alert asks, at first. */
  readonly query: string;
  readonly close: () => void;
  /** Closes it when nothing was added. */
  readonly cancel: () => void;
}

export function NewAlertDialog({ project, query: asked, close, cancel: leave }: Props) {
  const { kept, forget: forgetFields, props: keptFields } = useKeptFields(`alert.${project.id}.${asked}`);
  const [query, setQuery] = useState(textOf(kept.query) ?? asked);
  const [result, setResult] = useState<DryRun>();
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(listQuery(project.id));
  const canAdd = isAtLeast(project.role, 'admin');
  const editable = (data ?? []).filter(
    ({ visibility, synced_at: syncedAt }) => visibility === 'project' && syncedAt === null,
  );
  const [chosen, setChosen] = useState(textOf(kept.dashboard));
  const [to, setTo] = useState(textOf(kept.to) ?? '');
  // A kept choice may be deleted.
  const isThere = data === undefined || chosen === NEW || editable.some(({ id }) => id === chosen);
  const dashboard = (isThere ? chosen : undefined) ?? editable[0]?.id ?? NEW;
  const cancel = (): void => {
    forgetFields();
    leave();
  };
  const read = (): NewAlert => {
    const fields = new FormData(keptFields.ref.current ?? undefined);
    return {
      id: String(fields.get('id')).trim(),
      query: query.trim(),
      when: String(fields.get('when')).trim(),
      every: String(fields.get('every')),
      to: toTargets(String(fields.get('to'))),
    };
  };
  /** What was found about another query or condition. */
  const forget = (): void => {
    setProblem(undefined);
    setResult(undefined);
    setText(undefined);
  };
  const change = (q: string): void => {
    setQuery(q);
    forget();
  };
  const attempt = async (action: string, act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    forget();
    try {
      await act();
    } catch (error) {
      setProblem(messageOf(error, action));
    } finally {
      setBusy(false);
    }
  };
  const tryIt = () => attempt(alertTexts.dryRun, async () => setResult(await dryRunNew(project.id, read())));
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void attempt(words.add, async () => {
      const id = dashboard === NEW ? await createFor(query) : dashboard;
      await addAlert(project.id, id, read());
      await Promise.all([
        client.invalidateQueries({ queryKey: ['alerts', project.id] }),
        client.invalidateQueries({ queryKey: ['dashboard', project.id, id] }),
      ]);
      forgetFields();
      close();
    });
  };
  /** A dashboard of the project with the question; it stays chosen if the alert is refused. */
  const createFor = async (q: string): Promise<string> => {
    // A wrong query or condition is refused before there is a dashboard.
    await dryRunNew(project.id, read());
    const { id } = await createNamed(project.id, {
      title: words.dashboardTitle,
      visibility: 'project',
      card: toYamlCard(q),
    });
    setChosen(id);
    await client.invalidateQueries({ queryKey: ['dashboards', project.id] });
    return id;
  };
  return (
    <Dialog name={alertTexts.new} close={cancel} className={`${dashboards.dialog} ${editing.wide}`}>
      <form {...keptFields} className={dashboards.form} onSubmit={submit} onChange={forget}>
        <h2>{alertTexts.new}</h2>
        <input type="hidden" name="query" value={query} />
        <div className={editing.pair}>
          <label>
            {words.id}
            <input className="field" name="id" required maxLength={63} defaultValue={idOf(asked)} />
          </label>
          {canAdd && (
            <label>
              {words.dashboard}
              <select
                className="field"
                name="dashboard"
                value={dashboard}
                onChange={({ target }) => setChosen(target.value)}
              >
                {editable.map(({ id, title }) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
                <option value={NEW}>{words.newDashboard}</option>
              </select>
            </label>
          )}
        </div>
        <div>
          <span className={editing.label}>{alertTexts.query}</span>
          <div className={editing.query}>
            <QueryField
              projectId={project.id}
              timezone={project.timezone}
              value={query}
              onChange={change}
              onRun={() => void tryIt()}
              apply={change}
              rejected={NONE}
            />
          </div>
          {query.trim() === '' && (
            <p className={style.hint}>
              <Link href={`/projects/${project.id}/ask`}>{words.askFirst}</Link>. {words.askNote}
            </p>
          )}
        </div>
        <div className={editing.pair}>
          <label>
            {alertTexts.when}
            <input className="field" name="when" required maxLength={300} defaultValue={conditionFor(asked)} />
            <span className={style.hint}>{words.whenNote}</span>
          </label>
          <label>
            {words.every}
            <select className="field" name="every" defaultValue="15m">
              {INTERVALS.map((every) => (
                <option key={every} value={every}>
                  {words.intervals[every]}
                </option>
              ))}
            </select>
          </label>
        </div>
        <TargetsField value={to} onChange={setTo} note={words.toNote} />
        <Failure text={problem} />
        {result !== undefined && <DryRunResult result={result} state="ok" />}
        {text !== undefined && <Snippet name={words.asText} text={text} />}
        {canAdd && error && (
          <FailedAnswer failure={error} retry={() => void refetch()} title={texts.ask.dashboard.notLoaded} />
        )}
        {!canAdd && <p className="muted">{words.cannotAdd}</p>}
        <div className={dashboards.tools}>
          <button type="button" className="button" disabled={isBusy} onClick={() => void tryIt()}>
            {alertTexts.dryRun}
          </button>
          <button type="button" className="button" onClick={() => setText(toYamlAlert(read()))}>
            {words.showText}
          </button>
          <button type="button" className="button" onClick={cancel}>
            {words.cancel}
          </button>
          {canAdd && (
            <button type="submit" className="button primary" disabled={isBusy || data === undefined}>
              {words.add}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const NONE: readonly never[] = [];
/** The choice of a dashboard that is made for the alert. */
const NEW = '';
