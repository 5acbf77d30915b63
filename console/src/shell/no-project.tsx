// For people without a project: makes an organization, if there is none that they administer, and a
// project in it.
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { postJson } from '../api/request.js';
import type { Boot } from '../boot.js';
import { noProjectTexts } from '../texts/no-project.js';
import { texts } from '../texts.js';
import { Boundary } from './boundary.js';
import style from './plain-page.module.css';
import { forgetAll } from './storage.js';

const DeleteAccount = lazy(() =>
  import('../settings/leaving.js').then(({ DeleteAccount }) => ({ default: DeleteAccount })),
);

interface Created {
  readonly id: string;
}

const create = async (path: string, name: string): Promise<string> => (await postJson<Created>(path, { name })).id;

export function NoProject({ boot }: { readonly boot: Boot }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [ownId, setOwnId] = useState(boot.organizations.find(({ role }) => role !== 'member')?.id);
  if (ownId === undefined && boot.organizations.length > 0) {
    return (
      <main className={style.page}>
        <h1>{noProjectTexts.title}</h1>
        <p>{noProjectTexts.needsAdmin}</p>
        <WaysOut />
      </main>
    );
  }

  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    try {
      const organizationId = ownId ?? (await create('/api/orgs', String(form.get('organization'))));
      // Another attempt makes no second organization.
      setOwnId(organizationId);
      const id = await create(`/api/orgs/${organizationId}/projects`, String(form.get('project')));
      // The page of the new project comes from the server, which knows it.
      location.assign(`/projects/${id}/start`);
    } catch (error) {
      setProblem(messageOf(error, noProjectTexts.create));
      setBusy(false);
    }
  };

  return (
    <main className={style.page}>
      <h1>{noProjectTexts.title}</h1>
      <p className="muted">{noProjectTexts.text}</p>
      <form className={style.form} onSubmit={submit}>
        {ownId === undefined && (
          <label>
            {noProjectTexts.organization}
            <input className="field" name="organization" required maxLength={128} />
          </label>
        )}
        <label>
          {noProjectTexts.name}
          <input className="field" name="project" required maxLength={128} />
        </label>
        {problem !== undefined && (
          <p role="alert" className={style.problem}>
            {problem}
          </p>
        )}
        <button className="button primary" type="submit" disabled={isBusy}>
          {noProjectTexts.create}
        </button>
      </form>
      <WaysOut />
    </main>
  );
}

/** What the menu and the settings of a project offer otherwise. */
const WaysOut = () => (
  <>
    <form method="post" action="/auth/logout" onSubmit={forgetAll}>
      <button type="submit" className="button">
        {texts.account.signOut}
      </button>
    </form>
    <Boundary part="part" of="account">
      <Suspense fallback={null}>
        <DeleteAccount />
      </Suspense>
    </Boundary>
  </>
);
