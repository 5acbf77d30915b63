// One event type: how often it happens, and its properties with types, coverage and frequent
// values.
import { Link } from 'wouter';
import { toBucketData } from '../answer/bucket-data.js';
import { splitColumns } from '../answer/columns.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { exact, percent } from '../answer/format.js';
import type { Answer, Row } from '../api/answer.js';
import { retryFailed } from '../api/retry-failed.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import { toFragment } from '../ask/permalink.js';
import type { Project } from '../boot.js';
import { LineChart } from '../charts/line-chart.js';
import { cellText, fieldText, nameText, sourceText, valueText } from '../language/names.js';
import { dataTexts } from '../texts/data.js';
import { texts } from '../texts.js';
import style from './data.module.css';
import { Share } from './share.js';

interface Props {
  readonly project: Project;
  readonly event: string;
}

export function EventDetail({ project, event }: Props) {
  const q = `${sourceText(event)} | last 30d | count by day`;
  const byDay = useProjectAnswer(project, q);
  const inspected = useProjectAnswer(project, `inspect ${nameText(event)} | last 30d`);
  const failed = [byDay, inspected].find(({ error, isFetching }) => error !== null && !isFetching);
  return (
    <>
      <section className={`card ${style.card}`} aria-label={event}>
        <header className={style.detailHead}>
          <h2>{event}</h2>
          <Link className="button small" href={`/projects/${project.id}/ask${toFragment({ q })}`}>
            {dataTexts.ask}
          </Link>
        </header>
        {failed?.error && (
          <FailedAnswer failure={failed.error} retry={retryFailed([byDay, inspected])} title={texts.notLoaded} />
        )}
        {byDay.data !== undefined && <ByDay answer={byDay.data} event={event} timezone={project.timezone} />}
      </section>
      <section className={`card ${style.card}`} aria-labelledby="properties">
        <h2 id="properties">{dataTexts.propertiesOf(event)}</h2>
        {inspected.data === undefined ? (
          inspected.error === null && <p role="status">{texts.loading}</p>
        ) : inspected.data.rows.length === 0 ? (
          <p className="muted">{dataTexts.noProperties}</p>
        ) : (
          <ul className={style.properties} aria-labelledby="properties">
            {inspected.data.rows.map((row) => (
              <Property key={String(row.property)} project={project} event={event} row={row} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function ByDay({ answer, event, timezone }: { answer: Answer; event: string; timezone: string }) {
  const { groups, measure } = splitColumns(answer);
  const { data } = toBucketData(answer, timezone, { time: 'day', groups, measure });
  return <LineChart data={data} name={dataTexts.byDay(event)} />;
}

function Property({ project, event, row }: Props & { readonly row: Row }) {
  const name = String(row.property);
  const coverage = Number(row.coverage) / 100;
  const samples = Array.isArray(row.samples) ? (row.samples as readonly string[]) : [];
  const types = Array.isArray(row.types) ? row.types.join(', ') : String(row.types);
  // Where some values are texts, a sample that looks like a number may be one.
  const written = (sample: string): string => (types.includes('string') ? cellText(name, sample) : valueText(sample));
  return (
    <li>
      <div className={style.propertyHead}>
        <strong>{name.replace(/^event_properties\./, '')}</strong>
        <span className="muted">
          {types} · {dataTexts.distinct}: {exact(Number(row.distinct))}
        </span>
        <span className={style.coverage} title={dataTexts.coverageOf(percent(coverage))}>
          <Share share={coverage} />
          <span className={style.value}>{percent(coverage)}</span>
        </span>
      </div>
      <p className={style.samples}>
        {samples.map((sample) => (
          <Link
            key={sample}
            className={style.sample}
            href={`/projects/${project.id}/ask${toFragment({ q: only(event, name, written(sample)) })}`}
            title={dataTexts.askOnly(`${name} = ${sample}`)}
          >
            {sample === '' ? '""' : sample}
          </Link>
        ))}
      </p>
    </li>
  );
}

const only = (event: string, field: string, value: string): string =>
  `${sourceText(event)} | last 30d | where ${fieldText(field)} = ${value} | count by day`;
