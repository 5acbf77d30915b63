// Rejected events: how many for each reason and day, what to change, and the newest samples; and
// the fields of accepted events that are ignored.
import { useQuery } from '@tanstack/react-query';
import type { rejected } from '../../../src/ingest/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import { FailedAnswer } from '../answer/failed-answer.js';
import { exact, instant } from '../answer/format.js';
import { getJson, type RequestFailed } from '../api/request.js';
import type { Project } from '../boot.js';
import { dataTexts } from '../texts/data.js';
import { texts } from '../texts.js';
import style from './data.module.css';
import { Days } from './days.js';

type RejectedEvents = JsonOf<typeof rejected>;

const REFRESHED_MS = 10_000;

export function Rejected({ project }: { readonly project: Project }) {
  const { data, error, isFetching, refetch } = useQuery<RejectedEvents, RequestFailed>({
    queryKey: ['rejected', project.id],
    queryFn: ({ signal }) => getJson<RejectedEvents>(`/api/projects/${project.id}/rejected`, signal),
    staleTime: 0,
    refetchInterval: REFRESHED_MS,
  });
  if (error && !isFetching)
    return <FailedAnswer failure={error} retry={() => void refetch()} title={texts.notLoaded} />;
  if (data === undefined) return <p role="status">{texts.loading}</p>;
  const reasons = [...new Set(data.counts.map(({ reason }) => reason))]
    .map((reason) => ({ reason, days: data.counts.filter((each) => each.reason === reason) }))
    .map((of) => ({ ...of, events: of.days.reduce((sum, { events }) => sum + events, 0) }))
    .sort((a, b) => b.events - a.events);
  return (
    <>
      <p className={`muted ${style.note}`}>{dataTexts.rejectedNote}</p>
      {reasons.length === 0 && (
        <p role="status" className={`card ${style.card}`}>
          {dataTexts.noneRejected}
        </p>
      )}
      {reasons.length > 0 && (
        <div className={style.columns}>
          <section className={`card ${style.card}`} aria-labelledby="reasons">
            <h2 id="reasons">{dataTexts.reason}</h2>
            <ul className={style.reasons} aria-labelledby="reasons">
              {reasons.map(({ reason, events, days }) => (
                <li key={reason}>
                  <div className={style.propertyHead}>
                    <strong>{wordsOf(reason)}</strong>
                    <span className={style.coverage}>{exact(events)}</span>
                  </div>
                  <p className="muted">{dataTexts.repairs[reason]}</p>
                  <Days days={days} name={dataTexts.rejectedByDay(wordsOf(reason), exact(events))} />
                </li>
              ))}
            </ul>
          </section>
          <section className={`card ${style.card}`} aria-labelledby="samples">
            <h2 id="samples">{dataTexts.samplesTitle}</h2>
            {data.samples.length === 0 && <p className="muted">{dataTexts.noSamples}</p>}
            <ul className={style.samplesList} aria-labelledby="samples">
              {data.samples.map(({ at, reason, event }) => (
                <li key={`${at} ${event}`}>
                  <p>
                    <strong>{wordsOf(reason)}</strong>{' '}
                    <time dateTime={at} className="muted">
                      {instant(at, project.timezone)}
                    </time>
                  </p>
                  <pre>{event}</pre>
                </li>
              ))}
            </ul>
          </section>
        </div>
      )}
      {data.ignored_fields.length > 0 && <IgnoredFields project={project} fields={data.ignored_fields} />}
    </>
  );
}

interface IgnoredProps {
  readonly project: Project;
  readonly fields: RejectedEvents['ignored_fields'];
}

function IgnoredFields({ project, fields }: IgnoredProps) {
  return (
    <section className={`card ${style.card} ${style.below}`} aria-labelledby="ignored">
      <h2 id="ignored">{dataTexts.ignoredTitle}</h2>
      <p className={`muted ${style.note}`}>{dataTexts.ignoredNote}</p>
      <ul className={style.reasons} aria-labelledby="ignored">
        {fields.map(({ route, field, instead, last_at: at }) => (
          <li key={`${route} ${field} ${instead}`}>
            <div className={style.propertyHead}>
              <strong>{dataTexts.fieldOf(field, route)}</strong>
              <time dateTime={at} className={style.coverage}>
                {instant(at, project.timezone)}
              </time>
            </div>
            <p className="muted">{dataTexts.sendInstead(instead)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `event_type` is a name, and stays one. */
const wordsOf = (reason: string): string => {
  const words = reason.replaceAll('_', ' ').replace('event type', 'event_type');
  return words.startsWith('event_type') ? words : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};
