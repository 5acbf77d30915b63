// What the project contains: its events, their properties, and what was rejected. The address holds
// the part and the name.
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { CutNote } from '../answer/cut.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { ROWS_MAX } from '../api/query.js';
import { getJson, type RequestFailed } from '../api/request.js';
import { retryFailed } from '../api/retry-failed.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import { useFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import screen from '../shell/screen.module.css';
import { dataTexts } from '../texts/data.js';
import { texts } from '../texts.js';
import { PARTS, parseData, toData } from './address.js';
import style from './data.module.css';
import { EventDetail } from './event-detail.js';
import { EventTable } from './event-table.js';
import { FieldDetail } from './field-detail.js';
import { FieldTable } from './field-table.js';
import { type Catalog, FIELDS, INSPECT, matching, SHOWN_MAX, toEvents, toFields } from './names.js';
import { Rejected } from './rejected.js';

export function Data({ project }: { readonly project: Project }) {
  const { part, name } = parseData(useFragment());
  const title = name ?? (part === 'events' ? undefined : dataTexts.parts[part]);
  useEffect(() => {
    document.title = `${title === undefined ? '' : `${title} · `}${texts.nav.data} · ${project.name}`;
  }, [title, project.name]);
  return (
    <>
      <header className={style.head}>
        <h1>{texts.nav.data}</h1>
        <nav className={screen.parts} aria-label={dataTexts.partsLabel}>
          {PARTS.map((each) => (
            <a key={each} href={toData(each)} aria-current={each === part ? 'page' : undefined}>
              {dataTexts.parts[each]}
            </a>
          ))}
        </nav>
      </header>
      {part === 'rejected' ? (
        <Rejected project={project} />
      ) : (
        <Names key={part} project={project} part={part} name={name} />
      )}
    </>
  );
}

interface NamesProps {
  readonly project: Project;
  readonly part: 'events' | 'properties';
  readonly name: string | undefined;
}

function Names({ project, part, name }: NamesProps) {
  const [words, setWords] = useState('');
  const catalog = useQuery<Catalog, RequestFailed>({
    queryKey: ['catalog', project.id],
    queryFn: ({ signal }) => getJson<Catalog>(`/api/projects/${project.id}/catalog`, signal),
    staleTime: 10_000,
  });
  const figures = useProjectAnswer(project, part === 'events' ? INSPECT : FIELDS, ROWS_MAX);
  const events = useMemo(
    () => (part === 'events' && catalog.data && figures.data ? toEvents(catalog.data, figures.data) : undefined),
    [part, catalog.data, figures.data],
  );
  const fields = useMemo(
    () => (part === 'properties' && catalog.data && figures.data ? toFields(catalog.data, figures.data) : undefined),
    [part, catalog.data, figures.data],
  );
  const failed = [catalog, figures].find(({ error, isFetching }) => error !== null && !isFetching);
  if (failed?.error)
    return <FailedAnswer failure={failed.error} retry={retryFailed([catalog, figures])} title={texts.notLoaded} />;
  const names = events ?? fields;
  if (names === undefined) return <p role="status">{texts.loading}</p>;
  if (events?.length === 0) return <NoEvents project={project} />;
  const shown = matching<{ readonly name: string }>(names, words);
  return (
    <div className={style.columns} data-open={name !== undefined}>
      <section className={`card ${style.card} ${style.names}`} aria-label={dataTexts.parts[part]}>
        <div className={style.tools}>
          <label className={style.search}>
            <span className="unseen">{dataTexts.search}</span>
            <Icon name="search" size={16} />
            <input
              className="field"
              type="search"
              placeholder={dataTexts.search}
              autoComplete="off"
              spellCheck={false}
              value={words}
              onChange={({ target }) => setWords(target.value)}
            />
          </label>
          <p role="status" className="muted">
            {shown.length === 0 ? dataTexts.noMatch : dataTexts.found(shown.length, names.length)} · {dataTexts.period}
          </p>
        </div>
        {catalog.data?.complete === false && <p className="muted">{dataTexts.incomplete}</p>}
        {shown.length > 0 &&
          (events ? (
            <EventTable events={matching(events, words)} open={name} timezone={project.timezone} />
          ) : (
            <FieldTable fields={matching(fields ?? [], words)} open={name} />
          ))}
        {shown.length > SHOWN_MAX && <p className="muted">{dataTexts.searchMore(SHOWN_MAX)}</p>}
        {figures.data && <CutNote answer={figures.data} />}
      </section>
      <Detail isOpen={name !== undefined} back={toData(part)}>
        {name === undefined ? (
          <p className="muted">{dataTexts.choose}</p>
        ) : part === 'events' ? (
          <EventDetail key={name} project={project} event={name} />
        ) : (
          <FieldDetail key={name} project={project} field={name} />
        )}
      </Detail>
    </div>
  );
}

/** On a phone it takes the place of the list. */
function Detail({ isOpen, back, children }: { isOpen: boolean; back: string; children: ReactNode }) {
  return (
    <div className={style.detail}>
      {isOpen && (
        <p className={style.back}>
          <a href={back}>{dataTexts.back}</a>
        </p>
      )}
      {isOpen ? children : <section className={`card ${style.card}`}>{children}</section>}
    </div>
  );
}

const NoEvents = ({ project }: { readonly project: Project }) => (
  <section className={`card ${style.card}`} role="status">
    <h2>{dataTexts.noEvents}</h2>
    <p className="muted">{dataTexts.noEventsNote}</p>
    <p>
      <Link className="button" href={`/projects/${project.id}/start`}>
        {dataTexts.send}
      </Link>
    </p>
  </section>
);
