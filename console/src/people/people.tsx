// People: search, or one of them.
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { FailedAnswer } from '../answer/failed-answer.js';
import { instant } from '../answer/format.js';
import type { Answer } from '../api/answer.js';
import { query } from '../api/query.js';
import { useFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import { peopleTexts } from '../texts/people.js';
import { texts } from '../texts.js';
import { parsePeople, toPerson, toSearch } from './address.js';
import { nameIn } from './names.js';
import style from './people.module.css';
import { Person } from './person.js';
import { ACTIVE, FOUND_MAX, searchQuery } from './queries.js';

export function People({ project }: { readonly project: Project }) {
  const { id, words, range } = parsePeople(useFragment());
  return id === undefined ? (
    <Search project={project} words={words} />
  ) : (
    <Person key={id} project={project} id={id} range={range} />
  );
}

function Search({ project, words }: { readonly project: Project; readonly words: string }) {
  const field = useRef<HTMLInputElement>(null);
  // After a person, who has another title on the same screen.
  useEffect(() => {
    document.title = `${texts.nav.people} · ${project.name}`;
  }, [project.name]);
  // Going back has the words of that search.
  useEffect(() => {
    if (field.current !== null) field.current.value = words;
  }, [words]);
  const { data, error, isFetching, isPending, refetch } = useQuery({
    queryKey: ['people', project.id, words],
    queryFn: ({ signal }) =>
      query({ projectId: project.id, q: searchQuery(words), timezone: project.timezone, limit: FOUND_MAX }, signal),
    placeholderData: (before) => before,
    staleTime: 0,
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    location.hash = toSearch(field.current?.value ?? '');
  };
  return (
    <>
      <h1 className={style.title}>{texts.nav.people}</h1>
      <form className={style.search} onSubmit={submit}>
        <label htmlFor="words">{peopleTexts.search}</label>
        <input
          ref={field}
          id="words"
          className="field"
          type="search"
          autoComplete="off"
          spellCheck={false}
          aria-describedby="words-note"
        />
        <button type="submit" className="button primary">
          <Icon name="search" size={16} />
          {peopleTexts.find}
        </button>
        <span id="words-note" className="muted">
          {peopleTexts.searchNote}
        </span>
      </form>
      {words.trim() !== '' && (
        <p className={style.line}>
          <a className="button" href={toPerson(words.trim())}>
            {peopleTexts.open(words.trim())}
          </a>
        </p>
      )}
      {error && !isFetching && <FailedAnswer failure={error} retry={() => void refetch()} title={texts.notLoaded} />}
      {isPending && isFetching && <p role="status">{texts.loading}</p>}
      {data !== undefined && (
        <section aria-busy={isFetching} aria-label={texts.nav.people}>
          <p role="status" className={style.count}>
            {summaryOf(data, words.trim())}
          </p>
          {data.rows.length === 0 ? (
            <>
              <p className="muted">{peopleTexts.noneNote}</p>
              <Link className="button" href={`/projects/${project.id}/ask#${new URLSearchParams({ q: ACTIVE })}`}>
                {peopleTexts.active}
              </Link>
            </>
          ) : (
            <ul className={`card ${style.rows}`}>
              {data.rows.map((row) => (
                <li key={String(row.user_id)}>
                  <a href={toPerson(String(row.user_id))} className={style.person}>
                    <strong>{nameIn(row) ?? String(row.user_id)}</strong>
                    <span>{row.email === null ? String(row.user_id) : String(row.email)}</span>
                    <span className="muted">{instant(String(row.last_seen), project.timezone)}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

function summaryOf({ rows, total }: Answer, words: string): string {
  if (rows.length === 0) return words === '' ? peopleTexts.noneYet : peopleTexts.none;
  return words === '' ? peopleTexts.newest : peopleTexts.found(rows.length, total);
}
