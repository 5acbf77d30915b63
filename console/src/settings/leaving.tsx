// What ends a person's access: leaving the organization, deleting it, deleting the own account.
import type { Project } from '../boot.js';
import { forgetAll } from '../shell/storage.js';
import { settingsTexts } from '../texts/settings.js';
import { deleteAccount, deleteOrganization, leaveOrganization } from './api.js';
import { Problem } from './problem.js';
import style from './settings.module.css';
import { TypedConfirmation } from './typed-confirmation.js';
import { useConfirmation } from './use-attempt.js';

const { leaving: texts } = settingsTexts;

export function Leaving({ project }: { readonly project: Project }) {
  const { organizationName: name } = project;
  return (
    <>
      <Ending
        id="leave"
        title={texts.leave}
        note={texts.leaveNote}
        label={texts.typeOrganization}
        typed={name}
        confirm={texts.leaveIt}
        act={() => leaveOrganization(project)}
      />
      {project.role === 'owner' && (
        <Ending
          id="organization"
          title={texts.deleteOrganization}
          note={texts.deleteOrganizationNote}
          label={texts.typeOrganization}
          typed={name}
          confirm={settingsTexts.deleteIt}
          act={() => deleteOrganization(project)}
        />
      )}
      <DeleteAccount />
    </>
  );
}

export function DeleteAccount() {
  const act = async (): Promise<void> => {
    await deleteAccount(texts.accountPhrase);
    forgetAll();
  };
  return (
    <Ending
      id="account"
      title={texts.deleteAccount}
      note={texts.deleteAccountNote}
      label={settingsTexts.typeMember}
      typed={texts.accountPhrase}
      confirm={settingsTexts.deleteIt}
      act={act}
    />
  );
}

interface EndingProps {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly label: string;
  /** What is to be typed. */
  readonly typed: string;
  readonly confirm: string;
  readonly act: () => Promise<unknown>;
}

function Ending({ id, title, note, label, typed, confirm, act }: EndingProps) {
  const { asked, ask, close, problem, isBusy, attempt } = useConfirmation<true>();
  const end = () =>
    attempt(title, async () => {
      await act();
      // The page of the server knows what the person still has.
      location.assign('/');
    });
  return (
    <section className={style.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p className="muted">{note}</p>
      <div className={style.line}>
        <button type="button" className="button danger" onClick={() => ask(true)}>
          {title}
        </button>
      </div>
      {asked && (
        <TypedConfirmation
          title={title}
          name={typed}
          label={label}
          confirm={confirm}
          isBusy={isBusy}
          act={end}
          close={close}
        >
          <p>{note}</p>
          <Problem text={problem} />
        </TypedConfirmation>
      )}
    </section>
  );
}
