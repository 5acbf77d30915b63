// One person: events by day and session, profile, devices and why each belongs, export and erasure.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Answer, Row } from '../api/answer.js';
import { query } from '../api/query.js';
import type { RequestFailed } from '../api/request.js';
import { toFragment } from '../ask/permalink.js';
import { isAtLeast, type Project } from '../boot.js';
import { Timeline } from '../charts/timeline.js';
import { peopleTexts } from '../texts/people.js';
import { RANGES, type Range, toPerson } from './address.js';
import { Erasure } from './erasure.js';
import { ExportButton } from './export-button.js';
import { headingOf } from './names.js';
import style from './people.module.css';
import { devicesQuery, eventsQuery, profileQuery, ROWS_MAX } from './queries.js';

interface Props {
  readonly project: Project;
  readonly id: string;
  readonly range: Range;
}

export function Person({ project, id, range }: Props) {
  const asked = eventsQuery(id, range);
  const events = useAnswer(project, asked);
  const { data } = events;
  const heading = headingOf(useAnswer(project, profileQuery(id)).data?.rows[0]);
  useEffect(() => {
    document.title = `${peopleTexts.title} · ${project.name}`;
  }, [project.name]);
  return (
    <>
      <p className={style.crumb}>
        <Link href={`/projects/${project.id}/people`}>{peopleTexts.back}</Link>
      </p>
      <header className={style.head}>
        <div className={style.id}>
          <h1 dir="auto">{heading ?? id}</h1>
          {heading !== undefined && heading !== id && <code>{id}</code>}
        </div>
        <div className={style.tools}>
          <Link className="button" href={`/projects/${project.id}/ask${toFragment({ q: asked })}`}>
            {peopleTexts.ask}
          </Link>
          {isAtLeast(project.role, 'admin') && (
            <>
              <ExportButton project={project} id={id} />
              <Erasure project={project} id={id} />
            </>
          )}
        </div>
      </header>
      <div className={style.columns}>
        <section className={`card ${style.card}`} aria-label={peopleTexts.timeline}>
          <div className={style.line}>
            <label>
              {peopleTexts.range}{' '}
              <select
                className="field"
                value={range}
                onChange={({ target }) => location.assign(toPerson(id, target.value as Range))}
              >
                {RANGES.map((each) => (
                  <option key={each} value={each}>
                    {peopleTexts.ranges[each]}
                  </option>
                ))}
              </select>
            </label>
            <span className="muted">
              {project.timezone}
              {data !== undefined && ` · ${peopleTexts.events(data.total)}`}
            </span>
          </div>
          <Pending of={events} />
          {data?.rows.length === 0 && <p role="status">{peopleTexts.noEvents}</p>}
          {data !== undefined && data.rows.length > 0 && <Timeline answer={data} timezone={project.timezone} />}
        </section>
        <aside className={style.side}>
          <Profile project={project} id={id} />
          <Devices project={project} id={id} range={range} />
        </aside>
      </div>
    </>
  );
}

const useAnswer = (project: Project, q: string) =>
  useQuery<Answer, RequestFailed>({
    queryKey: ['person', project.id, q],
    queryFn: ({ signal }) => query({ projectId: project.id, q, timezone: project.timezone, limit: ROWS_MAX }, signal),
    staleTime: 0,
  });

function Profile({ project, id }: Omit<Props, 'range'>) {
  const request = useAnswer(project, profileQuery(id));
  const { data } = request;
  const [profile] = data?.rows ?? [];
  return (
    <section className={`card ${style.card}`} aria-label={peopleTexts.profile}>
      <h2>{peopleTexts.profile}</h2>
      <Pending of={request} />
      {data !== undefined && profile === undefined && <p className="muted">{peopleTexts.noProfile}</p>}
      {profile !== undefined && (
        <dl className={style.facts}>
          {factsOf(profile, project.timezone).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function factsOf(profile: Row, timezone: string): readonly (readonly [string, string])[] {
  const seen = ['first_seen', 'last_seen'].map((name) => [name, instant(String(profile[name]), timezone)] as const);
  const properties = Object.entries((profile.properties ?? {}) as Readonly<Record<string, unknown>>);
  return [
    ...properties.map(
      ([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)] as const,
    ),
    ...seen,
  ];
}

function Devices({ project, id, range }: Props) {
  const request = useAnswer(project, devicesQuery(id, range));
  const { data } = request;
  const devices = new Map<string, { own: number; mapped: number }>();
  for (const { device_id: device, user_id: user, count } of data?.rows ?? []) {
    const counts = devices.get(String(device)) ?? { own: 0, mapped: 0 };
    counts[user === null ? 'mapped' : 'own'] += Number(count);
    devices.set(String(device), counts);
  }
  return (
    <section className={`card ${style.card}`} aria-label={peopleTexts.devices}>
      <h2>{peopleTexts.devices}</h2>
      <Pending of={request} />
      {data !== undefined && devices.size === 0 && <p className="muted">{peopleTexts.noDevices}</p>}
      {devices.size > 0 && <p className="muted">{peopleTexts.devicesNote}</p>}
      {data !== undefined && data.total > data.rows.length && <p className="muted">{peopleTexts.devicesMost}</p>}
      <ul className={style.devices}>
        {[...devices].map(([device, { own, mapped }]) => (
          <li key={device}>
            <code>{device}</code>
            {own > 0 && (
              <span>
                {peopleTexts.events(own)}: {peopleTexts.deviceOwn}
              </span>
            )}
            {mapped > 0 && (
              <span>
                {peopleTexts.events(mapped)}: {peopleTexts.deviceMapped}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
