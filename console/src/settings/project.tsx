// Name, time zone, address policy and keys of a project, and its deletion.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { Pending } from '../answer/pending.js';
import { detailsQuery, type ProjectDetails, showSecretKey } from '../api/project-details.js';
import { isAtLeast, type Project } from '../boot.js';
import { Keys } from '../start/keys.js';
import { settingsTexts } from '../texts/settings.js';
import { changeProject, deleteProject, rotateSecretKey } from './api.js';
import { ConfirmationDialog } from './confirmation-dialog.js';
import { Problem } from './problem.js';
import style from './settings.module.css';
import { TypedConfirmation } from './typed-confirmation.js';
import { useAttempt, useConfirmation } from './use-attempt.js';

export function ProjectSettings({ project }: { readonly project: Project }) {
  const request = useQuery(detailsQuery(project.id));
  const { data } = request;
  // A form in which a person types stays, whatever is read later.
  const [typedOver, setTypedOver] = useState<ProjectDetails>();
  if (data === undefined) return <Pending of={request} />;
  const isAdmin = isAtLeast(project.role, 'admin');
  const details = typedOver ?? data;
  return (
    <>
      <Basics
        key={[details.name, details.timezone, details.ip_policy, details.other_sdks].join()}
        project={project}
        details={details}
        keep={() => setTypedOver(details)}
      />
      <section className={style.section} aria-labelledby="keys">
        <h2 id="keys">{settingsTexts.keys}</h2>
        <Keys details={data} />
        {isAdmin && <Rotation project={project} />}
      </section>
      {project.role === 'owner' && <Deletion project={project} name={data.name} />}
    </>
  );
}

interface BasicsProps {
  readonly project: Project;
  readonly details: ProjectDetails;
  /** A person has typed: the form must not show other details from now on. */
  readonly keep: () => void;
}

const POLICIES = ['anonymize', 'full', 'drop'] as const;

type Field = 'name' | 'timezone' | 'ip_policy' | 'other_sdks';

/** The stored value of a field, in the words of the form. */
function describeField({ name, timezone, ip_policy: policy, other_sdks: accepted }: ProjectDetails, field: Field) {
  return {
    name: [settingsTexts.name, name],
    timezone: [settingsTexts.timezone, timezone],
    ip_policy: [settingsTexts.addresses, settingsTexts.policies[policy]],
    other_sdks: [settingsTexts.otherSdks, accepted ? settingsTexts.otherSdksAccepted : settingsTexts.otherSdksRefused],
  }[field].join(': ');
}

function Basics({ project, details, keep }: BasicsProps) {
  const { problem, isBusy, attempt } = useAttempt();
  const [isSaved, setSaved] = useState(false);
  // The stored settings that the person has seen, in the form or in an error.
  const known = useRef(details);
  const client = useQueryClient();
  const isAdmin = isAtLeast(project.role, 'admin');
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const fields = {
      name: String(form.get('name')),
      timezone: String(form.get('timezone')),
      ip_policy: String(form.get('ip_policy')) as ProjectDetails['ip_policy'],
      other_sdks: form.get('other_sdks') === 'true',
    };
    // Another tab may have changed fields since: only those that are changed here are stored.
    const changes = Object.entries(fields).filter(([name, value]) => value !== details[name as Field]);
    void attempt(settingsTexts.save, async () => {
      if (changes.length > 0) {
        const stored = await client.fetchQuery(detailsQuery(project.id));
        const overtaken = changes
          .map(([name, value]) => ({ name: name as Field, value }))
          .filter(({ name, value }) => stored[name] !== known.current[name] && stored[name] !== value);
        known.current = stored;
        if (overtaken.length > 0)
          throw new Error(settingsTexts.overtaken(overtaken.map(({ name }) => describeField(stored, name))));
        await changeProject(project, Object.fromEntries(changes));
      }
      setSaved(true);
      // The page of the server holds name and zone.
      location.reload();
    });
  };
  return (
    <form className={`card ${style.card} ${style.form}`} onSubmit={submit} onChange={keep}>
      {!isAdmin && <p className="muted">{settingsTexts.byAdmins}</p>}
      <label>
        {settingsTexts.name}
        <input className="field" name="name" required maxLength={128} defaultValue={details.name} disabled={!isAdmin} />
      </label>
      <label>
        {settingsTexts.timezone}
        <input
          className="field"
          name="timezone"
          list="zones"
          required
          defaultValue={details.timezone}
          disabled={!isAdmin}
        />
        <span className="muted">{settingsTexts.timezoneNote}</span>
      </label>
      <datalist id="zones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <label>
        {settingsTexts.addresses}
        <select className="field" name="ip_policy" defaultValue={details.ip_policy} disabled={!isAdmin}>
          {POLICIES.map((policy) => (
            <option key={policy} value={policy}>
              {settingsTexts.policies[policy]}
            </option>
          ))}
        </select>
        <span className="muted">{settingsTexts.addressesNote}</span>
      </label>
      <label>
        {settingsTexts.otherSdks}
        <select className="field" name="other_sdks" defaultValue={String(details.other_sdks)} disabled={!isAdmin}>
          <option value="true">{settingsTexts.otherSdksAccepted}</option>
          <option value="false">{settingsTexts.otherSdksRefused}</option>
        </select>
        <span className="muted">{settingsTexts.otherSdksNote}</span>
      </label>
      <Problem text={problem} />
      {isAdmin && (
        <div className={style.buttons}>
          <span role="status">{isSaved && settingsTexts.saved}</span>
          <button type="submit" className="button primary" disabled={isBusy}>
            {settingsTexts.save}
          </button>
        </div>
      )}
    </form>
  );
}

function Rotation({ project }: { readonly project: Project }) {
  const [note, setNote] = useState('');
  const { asked, ask, close, problem, isBusy, attempt } = useConfirmation<true>();
  const client = useQueryClient();
  const rotate = () =>
    attempt(settingsTexts.rotate, async () => {
      await showSecretKey(client, await rotateSecretKey(project));
      close();
      setNote(settingsTexts.rotated);
    });
  return (
    <div className={style.line}>
      <button type="button" className="button" onClick={() => ask(true)}>
        {settingsTexts.rotate}
      </button>
      <span role="status">{note}</span>
      {asked && (
        <ConfirmationDialog
          title={settingsTexts.rotate}
          note={settingsTexts.rotateNote}
          confirm={settingsTexts.rotateIt}
          problem={problem}
          isBusy={isBusy}
          act={rotate}
          close={close}
        />
      )}
    </div>
  );
}

function Deletion({ project, name }: { readonly project: Project; readonly name: string }) {
  const { asked, ask, close, problem, isBusy, attempt } = useConfirmation<true>();
  const remove = () =>
    attempt(settingsTexts.deleteProject, async () => {
      await deleteProject(project, name);
      location.assign('/');
    });
  return (
    <section className={style.section} aria-labelledby="deletion">
      <h2 id="deletion">{settingsTexts.deletion}</h2>
      <p className="muted">{settingsTexts.deletionNote}</p>
      <div className={style.line}>
        <button type="button" className="button danger" onClick={() => ask(true)}>
          {settingsTexts.deleteProject}
        </button>
      </div>
      {asked && (
        <TypedConfirmation
          title={settingsTexts.deleteProject}
          name={name}
          label={settingsTexts.typeName}
          confirm={settingsTexts.deleteIt}
          isBusy={isBusy}
          act={remove}
          close={close}
        >
          <p>{settingsTexts.deletionNote}</p>
          <Problem text={problem} />
        </TypedConfirmation>
      )}
    </section>
  );
}
