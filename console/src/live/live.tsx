// Live: events as they arrive, and rejected ones with their reason. A row opens its JSON; a pause
// keeps what is shown.
import { useState } from 'react';
import { Link } from 'wouter';
import { instant } from '../answer/format.js';
import type { Row } from '../api/answer.js';
import { KEPT, keyOfEvent } from '../api/live-rows.js';
import { type LiveFeed, useLive } from '../api/use-live.js';
import type { Project } from '../boot.js';
import { Icon } from '../shell/icon.js';
import { liveTexts } from '../texts/live.js';
import { texts } from '../texts.js';
import { countNewer, hasGap } from './count-newer.js';
import style from './live.module.css';

export function Live({ project }: { readonly project: Project }) {
  const feed = useLive(project.id, true);
  const [frozen, setFrozen] = useState<LiveFeed>();
  const [words, setWords] = useState('');
  const shown = frozen ?? feed;
  const waiting = frozen === undefined ? 0 : countNewer(feed.events ?? [], frozen.events ?? []);
  const matches = (text: string): boolean => text.toLowerCase().includes(words.trim().toLowerCase());
  const events = shown.events?.filter((row) => matches(JSON.stringify(row)));
  const rejected = shown.rejected.filter(({ event, reason }) => matches(`${event} ${reason}`));
  return (
    <>
      <header className={style.head}>
        <h1>{texts.nav.live}</h1>
        <div className={style.tools}>
          <input
            className="field"
            type="search"
            aria-label={liveTexts.filter}
            placeholder={liveTexts.filter}
            value={words}
            onChange={({ target }) => setWords(target.value)}
          />
          <button
            type="button"
            className="button"
            aria-pressed={frozen !== undefined}
            onClick={() => setFrozen(frozen === undefined ? feed : undefined)}
          >
            <Icon name={frozen === undefined ? 'stop' : 'play'} size={16} />
            {frozen === undefined ? liveTexts.pause : liveTexts.resume}
          </button>
        </div>
      </header>
      <p role="status" className={style.status}>
        {feed.problem ??
          (frozen !== undefined
            ? liveTexts.paused(waiting, waiting === KEPT)
            : events === undefined
              ? texts.loading
              : liveTexts.watching)}
      </p>
      <div className={style.columns}>
        <section className={`card ${style.card}`} aria-labelledby="accepted">
          <h2 id="accepted">{liveTexts.accepted}</h2>
          {hasGap(shown.events ?? [], shown.gapAt) && <p className="muted">{liveTexts.gap}</p>}
          <div role="log" aria-label={liveTexts.accepted} aria-live="off">
            {shown.events?.length === 0 && (
              <p className="muted">
                {liveTexts.nothing} <Link href={`/projects/${project.id}/start`}>{texts.nav.start}</Link>
              </p>
            )}
            {events?.length === 0 && shown.events?.length !== 0 && <p className="muted">{liveTexts.noMatch}</p>}
            {events?.map((row) => (
              <EventRow key={keyOfEvent(row)} row={row} timezone={project.timezone} />
            ))}
          </div>
        </section>
        <section className={`card ${style.card}`} aria-labelledby="rejected">
          <h2 id="rejected">{liveTexts.rejected}</h2>
          {events !== undefined && rejected.length === 0 && (
            <p className="muted">{shown.rejected.length === 0 ? liveTexts.noneRejected : liveTexts.noMatch}</p>
          )}
          {rejected.map(({ at, reason, event }) => (
            <details key={`${at} ${event}`} className={style.row}>
              <summary>
                <time dateTime={at}>{instant(at, project.timezone)}</time>
                <strong>{reason.replaceAll('_', ' ')}</strong>
              </summary>
              <pre>{event}</pre>
            </details>
          ))}
        </section>
      </div>
    </>
  );
}

function EventRow({ row, timezone }: { readonly row: Row; readonly timezone: string }) {
  const present = Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null));
  return (
    <details className={style.row}>
      <summary>
        <time dateTime={String(row.time)}>{instant(String(row.time), timezone)}</time>
        <strong>{String(row.event_type)}</strong>
        <span className={style.who}>{row.distinct_id === null ? texts.answer.none : String(row.distinct_id)}</span>
      </summary>
      <pre>{JSON.stringify(present, null, 2)}</pre>
    </details>
  );
}
