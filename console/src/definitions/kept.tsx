// How long events are kept, how many the coming night deletes, and what earlier nights deleted.
import { useQuery } from '@tanstack/react-query';
import { day, exact, instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Project } from '../boot.js';
import { ScrollingTable } from '../settings/scrolling-table.js';
import screen from '../shell/screen.module.css';
import { definitionTexts } from '../texts/definitions.js';
import { keptQuery, type Receipt } from './api.js';
import style from './definitions.module.css';

const words = definitionTexts.kept;

/** Nothing for a project that keeps everything and has never deleted by age. */
export function KeptEvents({ project }: { readonly project: Project }) {
  const request = useQuery(keptQuery(project.id));
  const { data } = request;
  if (request.error) return <Pending of={request} />;
  if (data === undefined || (data.edges.length === 0 && data.receipts.length === 0)) return null;
  const { edges, receipts } = data;
  return (
    <section className={screen.section} aria-labelledby="kept">
      <h2 id="kept">{words.title}</h2>
      <p className="muted">{words.note}</p>
      {edges.length > 0 && (
        <ul className={`card ${screen.items}`} aria-labelledby="kept">
          {edges.map(({ events, days, before, due }) => (
            <li key={events?.join(' ') ?? ''}>
              <div className={screen.itemHead}>
                <h3>{events?.join(', ') ?? (edges.length === 1 ? words.all : words.others)}</h3>
                <span className="muted">{words.days(days)}</span>
                <strong className={style.count}>{due === null ? words.notCounted : words.due(exact(due))}</strong>
              </div>
              <p className={screen.facts}>{words.before(instant(before, project.timezone))}</p>
            </li>
          ))}
        </ul>
      )}
      {receipts.length > 0 && (
        <ScrollingTable name={words.receipts} columns={words.columns}>
          {receipts.map((receipt) => (
            <Row key={receipt.day} receipt={receipt} timezone={project.timezone} />
          ))}
        </ScrollingTable>
      )}
    </section>
  );
}

function Row({ receipt, timezone }: { readonly receipt: Receipt; readonly timezone: string }) {
  const { day: date, events, deleted, status, deleted_at: deletedAt, purged_at: purgedAt } = receipt;
  const at = purgedAt ?? deletedAt;
  return (
    <tr>
      <th scope="row">{day(date)}</th>
      <td>{exact(events)}</td>
      <td>{deleted.map((of) => `${of.event} ${exact(of.events)}`).join(', ')}</td>
      <td>
        {words.statuses[status]}
        {at !== null && ` ${instant(at, timezone)}`}
      </td>
    </tr>
  );
}
