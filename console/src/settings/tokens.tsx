// Access tokens of a project: a new one is shown once, and any can be revoked.
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { day, instant, localDate } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { serviceNow } from '../api/clock.js';
import { isAtLeast, type Project } from '../boot.js';
import { useKeptFields } from '../shell/kept-fields.js';
import { useSearch } from '../shell/search-field.js';
import { settingsTexts } from '../texts/settings.js';
import { createToken, revokeToken, type Token, tokensQuery } from './api.js';
import { ConfirmationDialog } from './confirmation-dialog.js';
import { CreatedToken } from './created-token.js';
import { Problem } from './problem.js';
import { ScrollingTable } from './scrolling-table.js';
import style from './settings.module.css';
import { useAttempt, useConfirmation } from './use-attempt.js';

const textOf = ({ name, prefix, kind, scopes }: Token): string =>
  [name, prefix, settingsTexts.kinds[kind], ...scopes].join(' ');

export function Tokens({ project }: { readonly project: Project }) {
  const request = useQuery(tokensQuery(project));
  const { data } = request;
  const { found, field } = useSearch(data ?? [], textOf, settingsTexts.searchTokens);
  const { asked: revoked, ask, close, problem, isBusy, attempt } = useConfirmation<Token>();
  const revoke = ({ id, name }: Token) =>
    attempt(settingsTexts.revokeThis(name), async () => {
      await revokeToken(project, id);
      close();
    });
  return (
    <>
      <p className="muted">{settingsTexts.tokensNote}</p>
      <NewToken project={project} />
      <Pending of={request} />
      {data?.length === 0 && <p role="status">{settingsTexts.noTokens}</p>}
      {field}
      {found.length > 0 && (
        <ScrollingTable name={settingsTexts.parts.tokens} columns={settingsTexts.tokenColumns}>
          {found.map((token) => (
            <Row key={token.id} project={project} token={token} revoke={() => ask(token)} />
          ))}
        </ScrollingTable>
      )}
      {revoked !== undefined && (
        <ConfirmationDialog
          title={settingsTexts.revokeThis(revoked.name)}
          note={settingsTexts.revokeNote}
          confirm={settingsTexts.revoke}
          problem={problem}
          isBusy={isBusy}
          act={() => revoke(revoked)}
          close={close}
        />
      )}
    </>
  );
}

function Row({ project, token, revoke }: { project: Project; token: Token; revoke: () => void }) {
  const dayOf = (moment: string): string => day(localDate(moment, project.timezone));
  const isOver = Date.parse(token.expires_at) < serviceNow();
  return (
    <tr>
      <th scope="row">
        {token.name}
        <code className={style.prefix}>{token.prefix}…</code>
      </th>
      <td>{settingsTexts.kinds[token.kind]}</td>
      <td>{token.scopes.join(', ')}</td>
      <td>{token.last_used_at === null ? settingsTexts.never : instant(token.last_used_at, project.timezone)}</td>
      <td>{dayOf(token.expires_at)}</td>
      <td>
        {token.revoked_at !== null ? (
          <span className="muted">{settingsTexts.revoked}</span>
        ) : isOver ? (
          <span className="muted">{settingsTexts.expired}</span>
        ) : (
          <button
            type="button"
            className="button small"
            aria-label={settingsTexts.revokeThis(token.name)}
            onClick={revoke}
          >
            {settingsTexts.revoke}
          </button>
        )}
      </td>
    </tr>
  );
}

const SCOPES: readonly (readonly [scope: keyof typeof settingsTexts.scopeNotes, least: Project['role']])[] = [
  ['query', 'member'],
  ['dashboards', 'member'],
  ['track', 'admin'],
  ['admin', 'owner'],
];
const LIFETIMES = ['30d', '90d', '366d'] as const;

function NewToken({ project }: { readonly project: Project }) {
  const [created, setCreated] = useState<string>();
  const scopes = SCOPES.filter(([, least]) => isAtLeast(project.role, least)).map(([scope]) => scope);
  const { props: keptFields } = useKeptFields(`token.${project.id}`);
  const { problem, isBusy, attempt } = useAttempt();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    void attempt(settingsTexts.createToken, async () => {
      const { token } = await createToken(project, {
        name: String(form.get('name')),
        kind: String(form.get('kind')),
        scopes: form.getAll('scopes').map(String),
        expires_in: String(form.get('expires_in')),
      });
      setCreated(token);
      element.reset();
    });
  };
  return (
    <form {...keptFields} className={`card ${style.card} ${style.form}`} onSubmit={submit}>
      <h2>{settingsTexts.newToken}</h2>
      <div className={style.fields}>
        <label>
          {settingsTexts.tokenName}
          <input className="field" name="name" required maxLength={128} />
        </label>
        <label>
          {settingsTexts.kind}
          <select className="field" name="kind">
            {isAtLeast(project.role, 'admin') && <option value="service">{settingsTexts.kinds.service}</option>}
            <option value="personal">{settingsTexts.kinds.personal}</option>
          </select>
        </label>
        <label>
          {settingsTexts.lifetime}
          <select className="field" name="expires_in" defaultValue="90d">
            {LIFETIMES.map((lifetime) => (
              <option key={lifetime} value={lifetime}>
                {settingsTexts.lifetimes[lifetime]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <fieldset className={style.choices}>
        <legend>{settingsTexts.scopes}</legend>
        {scopes.map((scope) => (
          <label key={scope}>
            <input type="checkbox" name="scopes" value={scope} defaultChecked={scope === 'query'} />
            {scope}
          </label>
        ))}
      </fieldset>
      <p className="muted">{scopes.map((scope) => settingsTexts.scopeNotes[scope]).join(' ')}</p>
      <Problem text={problem} />
      <CreatedToken token={created} />
      <div className={style.buttons}>
        <button type="submit" className="button primary" disabled={isBusy}>
          {settingsTexts.createToken}
        </button>
      </div>
    </form>
  );
}
