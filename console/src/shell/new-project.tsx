// Dialog that makes a project in an organization, and goes to its keys.
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { postJson } from '../api/request.js';
import type { Organization } from '../boot.js';
import { noProjectTexts } from '../texts/no-project.js';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import style from './plain-page.module.css';

interface Props {
  readonly organization: Organization;
  readonly close: () => void;
}

export function NewProject({ organization, close }: Props) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const title = texts.project.createIn(organization.name);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('project'));
    setBusy(true);
    try {
      const path = `/api/orgs/${organization.id}/projects`;
      const { id } = await postJson<{ readonly id: string }>(path, { name });
      // The page of the new project comes from the server, which knows it.
      location.assign(`/projects/${id}/start`);
    } catch (error) {
      setProblem(messageOf(error, noProjectTexts.create));
      setBusy(false);
    }
  };
  return (
    <Dialog name={title} close={close} className={style.dialog}>
      <form className={style.form} onSubmit={submit}>
        <h2>{title}</h2>
        <p className="muted">{noProjectTexts.text}</p>
        <label>
          {noProjectTexts.name}
          <input className="field" name="project" required maxLength={128} autoComplete="off" />
        </label>
        {problem !== undefined && (
          <p role="alert" className={style.problem}>
            {problem}
          </p>
        )}
        <div className={style.buttons}>
          <button type="button" className="button" onClick={close}>
            {texts.ask.cancel}
          </button>
          <button className="button primary" type="submit" disabled={isBusy}>
            {noProjectTexts.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
