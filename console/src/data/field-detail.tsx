// One field: its most frequent values of the last 30 days.
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { FailedAnswer } from '../answer/failed-answer.js';
import { Table } from '../answer/table.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import { toFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { cellText, fieldText } from '../language/names.js';
import { dataTexts } from '../texts/data.js';
import { texts } from '../texts.js';
import style from './data.module.css';

/** Fields of profiles are counted in people. */
const measureOf = (field: string): string => (field.startsWith('user.') ? 'unique' : 'count');

export function FieldDetail({ project, field }: { readonly project: Project; readonly field: string }) {
  const name = fieldText(field);
  const present = `* | last 30d | where ${name} exists | ${measureOf(field)}`;
  const q = `${present} by ${name} | top 20`;
  const { data, error, isFetching, refetch } = useProjectAnswer(project, q);
  const askPath = (text: string): string => `/projects/${project.id}/ask${toFragment({ q: text })}`;
  return (
    <section className={`card ${style.card}`} aria-label={field}>
      <header className={style.detailHead}>
        <h2>{field}</h2>
        <Link className="button small" href={askPath(q)}>
          {dataTexts.ask}
        </Link>
      </header>
      <h3>{dataTexts.valuesOf(field)}</h3>
      {error && !isFetching ? (
        <FailedAnswer failure={error} retry={() => void refetch()} title={texts.notLoaded} />
      ) : data === undefined ? (
        <p role="status">{texts.loading}</p>
      ) : data.rows.length === 0 ? (
        <p className="muted">{dataTexts.noValues}</p>
      ) : (
        <Table
          answer={data}
          timezone={project.timezone}
          refine={{
            where: ([value]) => {
              const only = `${name} = ${cellText(field, String(value?.[1]))}`;
              navigate(askPath(`* | last 30d | where ${only} | ${measureOf(field)} by day`));
            },
          }}
        />
      )}
    </section>
  );
}
