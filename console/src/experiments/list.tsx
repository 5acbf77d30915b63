// Experiments of the project: each choice whose exposures arrived in the last 90 days, with its
// variants.
import { Link } from 'wouter';
import { FailedAnswer } from '../answer/failed-answer.js';
import { compact, day, exact, percent } from '../answer/format.js';
import { retryFailed } from '../api/retry-failed.js';
import { useProjectAnswer } from '../api/use-project-answer.js';
import type { Project } from '../boot.js';
import { colorOf } from '../charts/series.js';
import { useSearch } from '../shell/search-field.js';
import { experimentTexts } from '../texts/experiments.js';
import { texts } from '../texts.js';
import style from './experiments.module.css';
import { BY_DAY, isRunning, lastDay, PEOPLE, type Summary, toSummaries } from './summaries.js';

export function List({ project }: { readonly project: Project }) {
  const people = useProjectAnswer(project, PEOPLE);
  const byDay = useProjectAnswer(project, BY_DAY, 10_000);
  const failed = [people, byDay].find(({ error, isFetching }) => error !== null && !isFetching);
  const summaries =
    people.data !== undefined && byDay.data !== undefined ? toSummaries(people.data, byDay.data) : undefined;
  const { found, field } = useSearch(summaries ?? [], ({ key }) => key, experimentTexts.search);
  return (
    <>
      <header className={style.head}>
        <h1>{texts.nav.experiments}</h1>
        <p className="muted">{experimentTexts.period}</p>
      </header>
      {failed?.error ? (
        <FailedAnswer failure={failed.error} retry={retryFailed([people, byDay])} title={texts.notLoaded} />
      ) : summaries === undefined ? (
        <p role="status">{texts.loading}</p>
      ) : summaries.length === 0 ? (
        <div className={`card ${style.empty}`} role="status">
          <h2>{experimentTexts.none}</h2>
          <p className="muted">{experimentTexts.noneNote}</p>
        </div>
      ) : (
        <>
          {field}
          <ul className={style.list} aria-label={texts.nav.experiments}>
            {found.map((summary) => (
              <li key={summary.key} className="card">
                <Item project={project} summary={summary} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Item({ project, summary }: { readonly project: Project; readonly summary: Summary }) {
  const { key, variants, people } = summary;
  return (
    <article className={style.item}>
      <div className={style.itemHead}>
        <h2>
          <Link href={`/projects/${project.id}/experiments/${encodeURIComponent(key)}`} className={style.key}>
            {key}
          </Link>
        </h2>
        <State summary={summary} />
      </div>
      <p className={style.people}>{experimentTexts.people(people)}</p>
      <Sparkline summary={summary} />
      <ul className={style.variants} aria-label={experimentTexts.variants}>
        {variants.map((variant, index) => (
          <li key={variant.key}>
            <span className={`mark ${style.swatch}`} style={{ background: colorOf(index) }} />
            <span className={style.variant}>{variant.key === '' ? texts.answer.none : variant.key}</span>
            <span className="muted" title={exact(variant.people)}>
              {compact(variant.people)}
            </span>
            <strong>{percent(variant.people / (people || 1))}</strong>
          </li>
        ))}
      </ul>
      <div className={style.shares} aria-hidden="true">
        {variants.map((variant, index) => (
          <span key={variant.key} className="mark" style={{ flexGrow: variant.people, background: colorOf(index) }} />
        ))}
      </div>
    </article>
  );
}

export function State({ summary }: { readonly summary: Pick<Summary, 'days'> }) {
  return isRunning(summary) ? (
    <span className={`${style.state} ${style.running}`}>{experimentTexts.running}</span>
  ) : (
    <span className={style.state}>{experimentTexts.ended(day(lastDay(summary)))}</span>
  );
}

const WIDTH = 240;
const HEIGHT = 40;
const DAY_MS = 86_400_000;

/** Columns for the days from the first exposure to the last. */
function Sparkline({ summary: { key, days } }: { readonly summary: Summary }) {
  const start = Date.parse(days[0]?.day ?? '');
  const count = Math.round((Date.parse(lastDay({ days })) - start) / DAY_MS) + 1;
  const most = Math.max(1, ...days.map((each) => each.count));
  const step = WIDTH / Math.max(count, 14);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={experimentTexts.exposuresByDay(key, count)}
      className={style.sparkline}
    >
      {days.map((each) => {
        const height = Math.max(1, (each.count / most) * HEIGHT);
        const x = Math.round((Date.parse(each.day) - start) / DAY_MS) * step;
        return <rect key={each.day} x={x} y={HEIGHT - height} width={step * 0.75} height={height} rx="1" />;
      })}
    </svg>
  );
}
