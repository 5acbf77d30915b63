// The text of the definitions with its problems at their lines, and the changes before they are
// saved.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isRefused } from '../api/request.js';
import type { Project } from '../boot.js';
import { ChangesDialog } from '../dashboards/changes-dialog.js';
import dashboards from '../dashboards/dashboards.module.css';
import { useKeptText } from '../dashboards/kept-text.js';
import { applyFix, Failure, SourceProblems, SourceText, selectPlace } from '../dashboards/source-text.js';
import screen from '../shell/screen.module.css';
import { dashboardsTexts } from '../texts/dashboards.js';
import { definitionTexts as words } from '../texts/definitions.js';
import { setAddress } from './address.js';
import { changeDefinitions, type Definitions, readAgain } from './api.js';
import style from './definitions.module.css';
import { EXAMPLE } from './question.js';
import { type Checked, check, useChecked } from './use-checked.js';

interface Props {
  readonly project: Project;
  readonly definitions: Definitions;
  /** Where the cursor stands at first. */
  readonly line: number | undefined;
}

export const nameOfText = ({ id }: Project): string => `definitions.${id}`;

export function Editor({ project, definitions, line }: Props) {
  const { version, is_synced: isSynced, source_yaml: before } = definitions;
  const kept = useKeptText(nameOfText(project), { version, text: version === 0 ? EXAMPLE : before });
  const { text: source, setText: setSource } = kept;
  const [reviewed, setReviewed] = useState<Checked>();
  const [isReviewing, setReviewing] = useState(false);
  const [failure, setFailure] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const client = useQueryClient();
  const last = useChecked(project.id, source, version);
  const checked = [last, reviewed].find((each) => each?.source === source);
  const mayBeOld = checked?.isRefused === true;
  useEffect(() => {
    if (mayBeOld) void client.invalidateQueries({ queryKey: ['definitions', project.id] });
  }, [mayBeOld, client, project.id]);
  const overtaken = kept.isOvertaken ? dashboardsTexts.overtaken(version) : undefined;
  const leave = (): void => {
    kept.forget();
    setAddress({ view: 'list' });
  };
  useEffect(() => {
    if (line !== undefined) selectPlace(field.current, { line });
  }, [line]);

  const review = async (): Promise<void> => {
    setFailure(undefined);
    const found = await check(project.id, { source, baseVersion: version });
    setReviewed(found);
    setReviewing(found.problems.length === 0 && found.failure === undefined);
  };
  const save = async (): Promise<void> => {
    try {
      await changeDefinitions(project.id, { source, baseVersion: version, isDryRun: false });
    } catch (error) {
      setFailure(messageOf(error, dashboardsTexts.save));
      setReviewing(false);
      if (isRefused(error)) await client.invalidateQueries({ queryKey: ['definitions', project.id] });
      return;
    }
    kept.forget();
    await readAgain(client, project.id);
    leave();
  };
  return (
    <section className={screen.page} aria-label={words.text}>
      <header className={screen.head}>
        <div>
          <h1>{words.title}</h1>
          <p role="status" className={dashboards.facts}>
            {checked === undefined
              ? dashboardsTexts.checking
              : checked.problems.length === 0 && checked.failure === undefined && dashboardsTexts.noProblems}
          </p>
        </div>
        <div className={screen.tools}>
          <button type="button" className="button" onClick={leave}>
            {dashboardsTexts.cancel}
          </button>
          <button type="button" className="button primary" disabled={source === before} onClick={() => void review()}>
            {dashboardsTexts.review}
          </button>
        </div>
      </header>
      {kept.isRestored && (
        <p role="status" className={dashboards.note}>
          {dashboardsTexts.restored}
        </p>
      )}
      {isSynced && <p className={style.warning}>{words.detachNote}</p>}
      <Failure text={failure ?? checked?.failure ?? overtaken} />
      <SourceProblems
        name={words.problems}
        problems={checked?.problems ?? []}
        goTo={(place) => selectPlace(field.current, place)}
        fix={checked?.source === source ? (fix) => applyFix(field.current, fix) : undefined}
      />
      <SourceText
        name={words.text}
        source={source}
        setSource={setSource}
        problems={checked?.problems ?? []}
        field={field}
      />
      {isReviewing && (
        <ChangesDialog
          before={before}
          after={source}
          warnings={[...(overtaken === undefined ? [] : [overtaken]), ...(reviewed?.warnings ?? [])]}
          confirm={dashboardsTexts.save}
          act={save}
          close={() => setReviewing(false)}
        />
      )}
    </section>
  );
}
