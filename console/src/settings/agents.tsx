// Connects an agent: shows the address for clients that use OAuth; for others, creates a token in
// place and shows their configuration with it.
import { type FormEvent, useState } from 'react';
import type { Project } from '../boot.js';
import { Snippet } from '../start/snippet.js';
import { agentTexts as words } from '../texts/agents.js';
import { settingsTexts } from '../texts/settings.js';
import { createToken } from './api.js';
import { CLIENTS, type ClientName, configurationOf } from './clients.js';
import { CreatedToken } from './created-token.js';
import { Problem } from './problem.js';
import style from './settings.module.css';
import { useAttempt } from './use-attempt.js';

const NO_TOKEN = 'aat_…';

export function Agents({ project, publicUrl }: { readonly project: Project; readonly publicUrl: string }) {
  const [token, setToken] = useState<string>();
  const [client, setClient] = useState<ClientName>('claudeCode');
  return (
    <>
      <p className="muted">{words.note}</p>
      <section className={`card ${style.card} ${style.form}`}>
        <h2>{words.address}</h2>
        <p className="muted">{words.addressNote}</p>
        <Snippet name={words.address} text={new URL('/mcp', publicUrl).href} />
      </section>
      <NewAgentToken project={project} token={token} show={setToken} />
      <section className={`card ${style.card} ${style.form}`}>
        <h2>{words.configuration}</h2>
        <label>
          {words.client}
          <select
            className="field"
            value={client}
            onChange={({ currentTarget }) => setClient(currentTarget.value as ClientName)}
          >
            {CLIENTS.map((name) => (
              <option key={name} value={name}>
                {words.clients[name]}
              </option>
            ))}
          </select>
        </label>
        <p className="muted">{words.places[client]}</p>
        <Snippet name={words.clients[client]} text={configurationOf(client, publicUrl, token ?? NO_TOKEN)} />
        {token === undefined && <p className="muted">{words.withoutToken}</p>}
      </section>
    </>
  );
}

interface NewAgentTokenProps {
  readonly project: Project;
  readonly token: string | undefined;
  readonly show: (token: string) => void;
}

/** A personal token: the agent may do what its person may. */
function NewAgentToken({ project, token, show }: NewAgentTokenProps) {
  const { problem, isBusy, attempt } = useAttempt();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void attempt(settingsTexts.createToken, async () => {
      const created = await createToken(project, {
        name: words.tokenName,
        kind: 'personal',
        scopes: form.has('dashboards') ? ['query', 'dashboards'] : ['query'],
        expires_in: '90d',
      });
      show(created.token);
    });
  };
  return (
    <form className={`card ${style.card} ${style.form}`} onSubmit={submit}>
      <h2>{settingsTexts.token}</h2>
      <fieldset className={style.choices}>
        <legend>{words.mayDo}</legend>
        <label>
          <input type="checkbox" checked disabled />
          {words.query}
        </label>
        <label>
          <input type="checkbox" name="dashboards" />
          {words.dashboards}
        </label>
      </fieldset>
      <Problem text={problem} />
      <CreatedToken token={token} />
      <div className={style.buttons}>
        <button type="submit" className="button primary" disabled={isBusy}>
          {settingsTexts.createToken}
        </button>
      </div>
    </form>
  );
}
