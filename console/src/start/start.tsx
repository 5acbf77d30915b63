// Send events: the keys of the project, code with the real key, and a light that turns green with
// the first event.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Pending } from '../answer/pending.js';
import { eventCountQuery, hasEventsQuery } from '../api/event-count.js';
import { detailsQuery } from '../api/project-details.js';
import { retryFailed } from '../api/retry-failed.js';
import type { Boot, Project } from '../boot.js';
import { startTexts } from '../texts/start.js';
import { Demo, DemoHere } from './demo.js';
import { Keys } from './keys.js';
import { Light } from './light.js';
import { Snippet } from './snippet.js';
import { snippetOf, WAYS, type Way } from './snippets.js';
import style from './start.module.css';

export function Start({ project, boot }: { readonly project: Project; readonly boot: Boot }) {
  const [way, setWay] = useState<Way>('page');
  const request = useQuery(detailsQuery(project.id));
  const { data } = request;
  const used = useQuery(hasEventsQuery(project.id));
  const asked = [request, used, useQuery(eventCountQuery(project.id))];
  const error = asked.find((each) => each.error !== null)?.error ?? null;
  const { title, lead } = used.data === false ? startTexts.first : startTexts;
  return (
    <div className={style.start}>
      <header>
        <h1>{title}</h1>
        <p className="muted">{lead}</p>
      </header>
      {project.isDemo && <DemoHere project={project} />}
      <Light projectId={project.id} />
      <Pending of={{ data, error, refetch: async () => retryFailed(asked)() }} />
      {data !== undefined && (
        <>
          <section className={`card ${style.card}`} aria-label={startTexts.wayLabel}>
            <fieldset className={style.ways}>
              <legend className="unseen">{startTexts.wayLabel}</legend>
              {WAYS.map((each) => (
                <button key={each} type="button" aria-pressed={each === way} onClick={() => setWay(each)}>
                  {startTexts.ways[each]}
                </button>
              ))}
            </fieldset>
            <p className="muted">{startTexts.wayNotes[way]}</p>
            <Snippet name={startTexts.ways[way]} text={snippetOf(way, boot.publicUrl, data)} />
          </section>
          <Keys details={data} />
        </>
      )}
      {!project.isDemo && <Demo project={project} boot={boot} />}
    </div>
  );
}
