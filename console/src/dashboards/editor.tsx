// A dashboard that is edited: its text with problems at their lines, the forms of its sections,
// cards and variables, and the changes before they are saved. The text is the only state; a form
// changes its own part of it.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isRefused, RequestFailed } from '../api/request.js';
import type { Project } from '../boot.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { setAddress } from './address.js';
import { changeDashboard, type Dashboard, type Edit, type Problem } from './api.js';
import { CardForm } from './card-form.js';
import { CardsPanel } from './cards-panel.js';
import { ChangesDialog } from './changes-dialog.js';
import style from './dashboards.module.css';
import editing from './editing.module.css';
import { lineOfItem } from './item-line.js';
import { useKeptText } from './kept-text.js';
import { SectionForm } from './section-form.js';
import { applyFix, Failure, SourceProblems, SourceText, selectPlace, type TextPlace } from './source-text.js';
import { useDraft } from './use-draft.js';
import { isNew, useOpenForm } from './use-open-form.js';
import { VariableForm } from './variable-form.js';

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
  /** The card whose form is open at first. */
  readonly card: string | undefined;
  /** Where the cursor stands at first: `alerts.low`. */
  readonly at: string | undefined;
}

export function Editor({ project, dashboard, card: wanted, at }: Props) {
  const { id, version, source_yaml: before } = dashboard;
  const kept = useKeptText(id, { version, text: before });
  const draft = useDraft(project.id, id, kept);
  const { source, setSource, sections, variables } = draft;
  const [refused, setRefused] = useState<readonly Problem[]>([]);
  const [failure, setFailure] = useState<string>();
  const [isReviewing, setReviewing] = useState(false);
  const { open, setOpen, formName, closeForm } = useOpenForm(id, wanted);
  const [note, setNote] = useState(kept.isRestored ? dashboardsTexts.restored : '');
  const field = useRef<HTMLTextAreaElement>(null);
  const client = useQueryClient();
  const leave = (): void => {
    kept.forget();
    setAddress({ view: 'cards', values: {} });
  };

  useEffect(() => {
    const line = at === undefined ? undefined : lineOfItem(before, at);
    if (line !== undefined) selectPlace(field.current, { line });
  }, [at, before]);

  const write = async (isDryRun: boolean): Promise<boolean> => {
    setFailure(undefined);
    try {
      await changeDashboard(project.id, id, { source, baseVersion: version, isDryRun });
      setRefused([]);
      return true;
    } catch (error) {
      const details = error instanceof RequestFailed ? (error.details as readonly Problem[]) : [];
      setRefused(details);
      if (details.length === 0) setFailure(messageOf(error, isDryRun ? dashboardsTexts.review : dashboardsTexts.save));
      if (isRefused(error)) await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
      return false;
    }
  };
  const save = async (): Promise<void> => {
    if (!(await write(false))) return setReviewing(false);
    kept.forget();
    await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
    leave();
  };
  const edit = async (change: Edit): Promise<void> => {
    setFailure(undefined);
    try {
      await draft.edit(change);
      closeForm();
      setRefused([]);
      setNote(dashboardsTexts.form.applied);
    } catch (error) {
      setFailure(messageOf(error, dashboardsTexts.form.apply));
    }
  };
  const goTo = (place: TextPlace): void => selectPlace(field.current, place);
  const form = {
    formName,
    failure,
    close: (): void => {
      closeForm();
      setFailure(undefined);
    },
  };
  const card =
    open?.kind === 'card' ? sections.flatMap(({ cards }) => cards).find((each) => each.id === open.id) : undefined;
  const section = open?.kind === 'section' ? sections[open.index ?? -1] : undefined;
  const variable = open?.kind === 'variable' ? variables.find(({ name }) => name === open.name) : undefined;
  // What it is about may not be read yet.
  const isShown = open !== undefined && (isNew(open) || (card ?? section ?? variable) !== undefined);
  const problems = draft.isChecked ? draft.problems : refused;
  const overtaken = kept.isOvertaken ? dashboardsTexts.overtaken(version) : undefined;

  return (
    <section aria-label={dashboardsTexts.text}>
      <header className={style.head}>
        <h1>{dashboard.title}</h1>
        <div className={style.tools}>
          <button type="button" className="button" onClick={leave}>
            {dashboardsTexts.cancel}
          </button>
          <button
            type="button"
            className="button primary"
            disabled={source === before}
            onClick={() => void write(true).then(setReviewing)}
          >
            {dashboardsTexts.review}
          </button>
        </div>
      </header>
      {!isShown && <Failure text={failure ?? draft.failure ?? overtaken} />}
      <SourceProblems
        name={dashboardsTexts.problems}
        problems={problems}
        goTo={goTo}
        fix={(fix) => applyFix(field.current, fix)}
      />
      <p role="status" className={style.note}>
        {note !== '' && source !== before && note}
      </p>
      <div className={editing.sides}>
        <SourceText
          name={dashboardsTexts.text}
          source={source}
          setSource={(text) => {
            setSource(text);
            setRefused([]);
          }}
          problems={problems}
          field={field}
        />
        <CardsPanel isRead={draft.isRead} sections={sections} variables={variables} open={setOpen} goTo={goTo} />
      </div>
      {isShown && open.kind === 'card' && (
        <CardForm
          projectId={project.id}
          timezone={dashboard.config.timezone ?? project.timezone}
          card={card}
          section={open.section}
          sections={sections}
          {...form}
          apply={edit}
        />
      )}
      {isShown && open.kind === 'section' && (
        <SectionForm
          section={section}
          {...form}
          apply={(title) => edit({ section: { title, ...(open.index !== undefined && { index: open.index }) } })}
        />
      )}
      {isShown && open.kind === 'variable' && (
        <VariableForm
          edited={variable}
          {...form}
          apply={(name, changed) =>
            edit({ variable: { new_name: name, variable: changed, ...(open.name && { name: open.name }) } })
          }
        />
      )}
      {isReviewing && (
        <ChangesDialog
          before={before}
          after={source}
          warnings={overtaken === undefined ? [] : [overtaken]}
          confirm={dashboardsTexts.save}
          act={save}
          close={() => setReviewing(false)}
        />
      )}
    </section>
  );
}
