// Members of the organization and open invitations. The form that invites is above the lists, which
// may be long.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { day, localDate } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Project } from '../boot.js';
import { useKeptFields } from '../shell/kept-fields.js';
import { useSearch } from '../shell/search-field.js';
import { CopyButton } from '../start/copy-button.js';
import { settingsTexts } from '../texts/settings.js';
import {
  changeRole,
  type Invitation,
  invitationsQuery,
  invite,
  type Member,
  membersQuery,
  removeMember,
  revokeInvitation,
} from './api.js';
import { ConfirmationDialog } from './confirmation-dialog.js';
import { Problem } from './problem.js';
import style from './settings.module.css';
import { TypedConfirmation } from './typed-confirmation.js';
import { useAttempt, useConfirmation } from './use-attempt.js';

const ROLES = ['owner', 'admin', 'member'] as const;
const nameOf = ({ email, name, user_id }: Member): string => email ?? name ?? user_id;
const textOf = ({ email, name, user_id }: Member): string => [email, name, user_id].join(' ');

export function Members({ project }: { readonly project: Project }) {
  const request = useQuery(membersQuery(project));
  const client = useQueryClient();
  const { data } = request;
  const { found, field } = useSearch(data ?? [], textOf, settingsTexts.searchMembers);
  const { asked: leaving, ask, close, problem, isBusy, attempt } = useConfirmation<Member>();
  const [made, setMade] = useState<Made>();
  const remove = (member: Member) =>
    attempt(settingsTexts.removeThis(nameOf(member)), async () => {
      await removeMember(project, member.user_id);
      close();
    });
  const setRole = (member: Member, role: string) =>
    attempt(settingsTexts.roleOf(nameOf(member)), async () => {
      // Another tab may have changed it since: that is named before it is replaced.
      const members = await client.fetchQuery(membersQuery(project));
      const stored = members.find(({ user_id: id }) => id === member.user_id)?.role ?? member.role;
      if (stored !== member.role && stored !== role) throw new Error(settingsTexts.roleChanged(nameOf(member), stored));
      await changeRole(project, member.user_id, role);
    });
  return (
    <>
      <p className="muted">{settingsTexts.membersOf(project.organizationName)}</p>
      <Invite project={project} made={made} setMade={setMade} />
      <Pending of={request} />
      {leaving === undefined && <Problem text={problem} />}
      {field}
      {found.length > 0 && (
        <ul className={`card ${style.rows}`} aria-label={settingsTexts.parts.members}>
          {found.map((member) => (
            <li key={member.user_id}>
              <span className={style.who}>{nameOf(member)}</span>
              <select
                className="field"
                aria-label={settingsTexts.roleOf(nameOf(member))}
                value={member.role}
                disabled={isBusy}
                onChange={({ target }) => void setRole(member, target.value)}
              >
                {ROLES.map((role) => (
                  <option key={role} value={role}>
                    {settingsTexts.roles[role]}
                  </option>
                ))}
              </select>
              <button
                type="button"
                className="button small"
                aria-label={settingsTexts.removeThis(nameOf(member))}
                onClick={() => ask(member)}
              >
                {settingsTexts.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Invitations project={project} onRevoked={(id) => id === made?.id && setMade(undefined)} />
      {leaving !== undefined && (
        <TypedConfirmation
          title={settingsTexts.removeThis(nameOf(leaving))}
          name={nameOf(leaving)}
          label={settingsTexts.typeMember}
          confirm={settingsTexts.remove}
          isBusy={isBusy}
          act={() => remove(leaving)}
          close={close}
        >
          <p>{settingsTexts.removeNote}</p>
          <Problem text={problem} />
        </TypedConfirmation>
      )}
    </>
  );
}

interface Made {
  readonly id: string;
  /** Null when it was mailed. */
  readonly link: string | null;
}

interface InviteProps {
  readonly project: Project;
  /** The invitation that was made last; its link is shown once. */
  readonly made: Made | undefined;
  readonly setMade: (made: Made) => void;
}

function Invite({ project, made, setMade }: InviteProps) {
  const { problem, isBusy, attempt } = useAttempt();
  const { props: keptFields } = useKeptFields(`invitation.${project.organizationId}`);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    void attempt(settingsTexts.invite, async () => {
      const invitation = { email: String(form.get('email')), role: String(form.get('role')) };
      const { id, accept_url: link } = await invite(project, invitation);
      setMade({ id, link });
      element.reset();
    });
  };
  return (
    <form {...keptFields} className={`card ${style.card} ${style.form}`} onSubmit={submit}>
      <div className={style.fields}>
        <label>
          {settingsTexts.email}
          <input className="field" name="email" type="email" required />
        </label>
        <label>
          {settingsTexts.role}
          <select className="field" name="role">
            <option value="member">{settingsTexts.roles.member}</option>
            <option value="admin">{settingsTexts.roles.admin}</option>
          </select>
        </label>
      </div>
      <Problem text={problem} />
      <div role="status" className={made && style.created}>
        {made?.link === null && settingsTexts.mailed}
        {made?.link && (
          <>
            {settingsTexts.invited}
            <code>{made.link}</code>
            <CopyButton name={settingsTexts.link} text={made.link} />
          </>
        )}
      </div>
      <div className={style.buttons}>
        <button type="submit" className="button primary" disabled={isBusy}>
          {settingsTexts.invite}
        </button>
      </div>
    </form>
  );
}

interface InvitationsProps {
  readonly project: Project;
  readonly onRevoked: (id: string) => void;
}

function Invitations({ project, onRevoked }: InvitationsProps) {
  const request = useQuery(invitationsQuery(project));
  const { data } = request;
  const { found, field } = useSearch(data ?? [], ({ email }) => email, settingsTexts.searchInvitations);
  const { asked: revoked, ask, close, problem, isBusy, attempt } = useConfirmation<Invitation>();
  const revoke = ({ id, email }: Invitation) =>
    attempt(settingsTexts.revokeThis(email), async () => {
      await revokeInvitation(project, id);
      onRevoked(id);
      close();
    });
  return (
    <section className={style.section} aria-labelledby="invitations">
      <h2 id="invitations">{settingsTexts.invitations}</h2>
      <Pending of={request} />
      {data?.length === 0 && <p className="muted">{settingsTexts.noInvitations}</p>}
      {field}
      {found.length > 0 && (
        <ul className={`card ${style.rows}`} aria-label={settingsTexts.invitations}>
          {found.map((invitation) => (
            <li key={invitation.id}>
              <span className={style.who}>{invitation.email}</span>
              <span className="muted">
                {settingsTexts.roles[invitation.role as 'admin']} ·{' '}
                {settingsTexts.until(day(localDate(invitation.expires_at, project.timezone)))}
              </span>
              <button
                type="button"
                className="button small"
                aria-label={settingsTexts.revokeThis(invitation.email)}
                onClick={() => ask(invitation)}
              >
                {settingsTexts.revoke}
              </button>
            </li>
          ))}
        </ul>
      )}
      {revoked !== undefined && (
        <ConfirmationDialog
          title={settingsTexts.revokeThis(revoked.email)}
          note={settingsTexts.revokeInvitationNote}
          confirm={settingsTexts.revoke}
          problem={problem}
          isBusy={isBusy}
          act={() => revoke(revoked)}
          close={close}
        />
      )}
    </section>
  );
}
