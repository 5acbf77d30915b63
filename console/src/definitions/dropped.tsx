// Rules of the project that drop events, with what each has dropped.
import { useQuery } from '@tanstack/react-query';
import { exact } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Project } from '../boot.js';
import dashboards from '../dashboards/dashboards.module.css';
import { Days } from '../data/days.js';
import screen from '../shell/screen.module.css';
import { dashboardsTexts } from '../texts/dashboards.js';
import { definitionTexts } from '../texts/definitions.js';
import { toAddress } from './address.js';
import { type DropRule, droppedQuery } from './api.js';
import style from './definitions.module.css';

const words = definitionTexts.dropped;

interface Props {
  readonly project: Project;
  readonly mayEdit: boolean;
}

/** Nothing for a project without rules. */
export function DroppedEvents({ project, mayEdit }: Props) {
  const request = useQuery(droppedQuery(project.id));
  const { data } = request;
  if (request.error) return <Pending of={request} />;
  if (data === undefined || (data.rules.length === 0 && data.bots.choice === 'keep')) return null;
  const { rules, bots } = data;
  return (
    <section className={screen.section} aria-labelledby="dropped">
      <h2 id="dropped">{words.title}</h2>
      <p className="muted">{words.note}</p>
      <ul className={`card ${screen.items}`} aria-labelledby="dropped">
        {rules.map((rule) => (
          <Rule key={rule.key} rule={rule} mayEdit={mayEdit} />
        ))}
        <li>
          <div className={screen.itemHead}>
            <h3>{words.bots}</h3>
            <span className={dashboards.badge}>{words.choices[bots.choice]}</span>
            <strong className={style.count}>{words.count(exact(bots.events))}</strong>
          </div>
          {bots.days.length > 0 && <Days days={bots.days} name={words.byDay(words.bots, exact(bots.events))} />}
        </li>
      </ul>
    </section>
  );
}

function Rule({ rule, mayEdit }: { readonly rule: DropRule; readonly mayEdit: boolean }) {
  const { event, when, about, line, events, days } = rule;
  const text = [event === undefined ? [] : `event: ${event}`, when ?? []].flat().join(' · ');
  return (
    <li>
      <div className={screen.itemHead}>
        <h3>
          <code>{text}</code>
        </h3>
        <strong className={style.count}>{words.count(exact(events))}</strong>
      </div>
      {about !== undefined && <p className="muted">{about}</p>}
      {days.length > 0 && <Days days={days} name={words.byDay(text, exact(events))} />}
      {mayEdit && (
        <a className={style.ruleLine} href={toAddress({ view: 'edit', line })} aria-label={words.editLine(text, line)}>
          {dashboardsTexts.line(line)}
        </a>
      )}
    </li>
  );
}
