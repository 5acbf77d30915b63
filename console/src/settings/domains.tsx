// Domains of the organization: each shows the TXT record that verifies it, and until when it admits
// people.
import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { day, localDate } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { serviceNow } from '../api/clock.js';
import type { Project } from '../boot.js';
import { useKeptFields } from '../shell/kept-fields.js';
import { CopyButton } from '../start/copy-button.js';
import { settingsTexts } from '../texts/settings.js';
import { claimDomain, type Domain, domainsQuery, removeDomain, verifyDomain } from './api.js';
import { Problem } from './problem.js';
import style from './settings.module.css';
import { TypedConfirmation } from './typed-confirmation.js';
import { useConfirmation } from './use-attempt.js';

export function Domains({ project }: { readonly project: Project }) {
  const request = useQuery(domainsQuery(project));
  const { data } = request;
  const { asked: leaving, ask, close, problem, isBusy, attempt } = useConfirmation<Domain>();
  const { props: keptFields } = useKeptFields(`domain.${project.organizationId}`);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const element = event.currentTarget;
    const domain = String(new FormData(element).get('domain'));
    void attempt(settingsTexts.claim, async () => {
      await claimDomain(project, domain);
      element.reset();
    });
  };
  const remove = ({ id, domain }: Domain) =>
    attempt(settingsTexts.removeThis(domain), async () => {
      await removeDomain(project, id);
      close();
    });
  return (
    <>
      <p className="muted">{settingsTexts.domainsNote(project.organizationName)}</p>
      <form {...keptFields} className={`card ${style.card} ${style.inline}`} onSubmit={submit}>
        <label>
          {settingsTexts.domain}
          <input
            className="field"
            name="domain"
            required
            placeholder="example.com"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
          />
        </label>
        <button type="submit" className="button primary" disabled={isBusy}>
          {settingsTexts.claim}
        </button>
      </form>
      {leaving === undefined && <Problem text={problem} />}
      <Pending of={request} />
      {data?.length === 0 && <p role="status">{settingsTexts.noDomains}</p>}
      {data?.map((domain) => (
        <One
          key={domain.id}
          domain={domain}
          timezone={project.timezone}
          isBusy={isBusy}
          verify={() =>
            void attempt(
              settingsTexts.verifyThis(domain.domain),
              async () => void (await verifyDomain(project, domain.id)),
            )
          }
          remove={() => ask(domain)}
        />
      ))}
      {leaving !== undefined && (
        <TypedConfirmation
          title={settingsTexts.removeThis(leaving.domain)}
          name={leaving.domain}
          label={settingsTexts.typeMember}
          confirm={settingsTexts.remove}
          isBusy={isBusy}
          act={() => remove(leaving)}
          close={close}
        >
          <p>{settingsTexts.domainGone}</p>
          <Problem text={problem} />
        </TypedConfirmation>
      )}
    </>
  );
}

interface OneProps {
  readonly domain: Domain;
  readonly timezone: string;
  readonly isBusy: boolean;
  readonly verify: () => void;
  readonly remove: () => void;
}

function One({ domain, timezone, isBusy, verify, remove }: OneProps) {
  const { domain: name, admits_until: until } = domain;
  const state = stateOf(domain);
  return (
    <section className={`card ${style.card} ${style.form}`} aria-label={name}>
      <div className={style.line}>
        <h2 className={style.who}>{name}</h2>
        <span className={style.state} data-state={state === 'verified' ? 'ok' : 'attention'}>
          {settingsTexts[state]}
        </span>
        {state !== 'verified' && (
          <button
            type="button"
            className="button small primary"
            aria-label={settingsTexts.verifyThis(name)}
            disabled={isBusy}
            onClick={verify}
          >
            {settingsTexts.verify}
          </button>
        )}
        <button
          type="button"
          className="button small"
          aria-label={settingsTexts.removeThis(name)}
          disabled={isBusy}
          onClick={remove}
        >
          {settingsTexts.remove}
        </button>
      </div>
      {state === 'verified' && until !== null ? (
        <p className="muted">{settingsTexts.admitsUntil(day(localDate(until, timezone)))}</p>
      ) : (
        <p>{settingsTexts.publish}</p>
      )}
      <dl className={style.record}>
        <Part name={settingsTexts.recordName} text={domain.record_name} />
        <Part name={settingsTexts.recordValue} text={domain.record_value} />
      </dl>
    </section>
  );
}

/** A verified domain admits people for some days after its record was last seen. */
function stateOf({ verified_at: verifiedAt, admits_until: until }: Domain): 'pending' | 'verified' | 'lapsed' {
  if (verifiedAt === null || until === null) return 'pending';
  return Date.parse(until) > serviceNow() ? 'verified' : 'lapsed';
}

function Part({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{text}</code>
        <CopyButton name={name} text={text} />
      </dd>
    </div>
  );
}
