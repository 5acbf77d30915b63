// Downloads all events of the project, and its devices and profiles. The browser writes them to the
// disk while they arrive: they may be larger than its memory.
import { useState } from 'react';
import type { Project } from '../boot.js';
import { exportTexts } from '../texts/export.js';
import { Problem } from './problem.js';
import style from './settings.module.css';

export function Export({ project }: { readonly project: Project }) {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const all = `/api/projects/${project.id}/exports`;
  const range = new URLSearchParams({ ...(from !== '' && { from }), ...(to !== '' && { to }) });
  const isEmpty = from !== '' && to !== '' && from >= to;
  return (
    <>
      <p className="muted">{exportTexts.note}</p>
      <section className={`card ${style.card} ${style.form}`} aria-labelledby="export-events">
        <h2 id="export-events">{exportTexts.events}</h2>
        <p className="muted">{exportTexts.eventsNote}</p>
        <Day label={exportTexts.from} value={from} onChange={setFrom} />
        <Day label={exportTexts.to} value={to} onChange={setTo} note={exportTexts.toNote} />
        <Problem text={isEmpty ? exportTexts.empty : undefined} />
        <div className={style.buttons}>
          {!isEmpty && (
            <a className="button primary" href={`${all}/events?${range}`} download="events.ndjson">
              {exportTexts.downloadEvents}
            </a>
          )}
        </div>
      </section>
      <section className={`card ${style.card} ${style.form}`} aria-labelledby="export-identities">
        <h2 id="export-identities">{exportTexts.identities}</h2>
        <p className="muted">{exportTexts.identitiesNote}</p>
        <div className={style.buttons}>
          <a className="button" href={`${all}/identities`} download="identities.ndjson">
            {exportTexts.downloadIdentities}
          </a>
        </div>
      </section>
    </>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly note?: string;
}

function Day({ label, value, onChange, note }: DayProps) {
  return (
    <label>
      {label}
      <input className="field" type="date" value={value} onChange={(event) => onChange(event.target.value)} />
      {note !== undefined && <span className="muted">{note}</span>}
    </label>
  );
}
