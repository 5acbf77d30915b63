// Events of one person by day and session, the newest first.
import { clock, day, localDate } from '../answer/format.js';
import type { Answer, Cell, Row } from '../api/answer.js';
import { drawingTexts } from '../texts/drawings.js';
import { plural } from '../texts/plural.js';
import { texts } from '../texts.js';
import style from './timeline.module.css';

const SHOWN_MAX = 200;
/** Shown as headings or as the time. */
const OWN = ['time', 'event_type', 'session_id', 'insert_id', 'user_id', 'device_id', 'distinct_id'];

interface Group {
  readonly date: string;
  readonly session: string;
  readonly rows: Row[];
}

function groupsOf(rows: readonly Row[], timezone: string): readonly Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const date = localDate(String(row.time), timezone);
    const session = String(row.session_id ?? '');
    const last = groups.at(-1);
    if (last?.date === date && last.session === session) last.rows.push(row);
    else groups.push({ date, session, rows: [row] });
  }
  return groups;
}

interface Props {
  readonly answer: Answer;
  readonly timezone: string;
  /** Filters by an event. */
  readonly choose?: ((event: string) => void) | undefined;
}

export function Timeline({ answer, timezone, choose }: Props) {
  const groups = groupsOf(answer.rows.slice(0, SHOWN_MAX), timezone);
  const newest = groups[0] && drawingTexts.timeline(plural(answer.total, 'event'), day(groups[0].date));
  return (
    <section className={style.timeline} aria-label={newest}>
      {groups.map(({ date, session, rows }, index) => (
        <section key={`${date} ${session} ${String(rows[0]?.insert_id)}`}>
          {groups[index - 1]?.date !== date && <h2 className={style.day}>{day(date, true)}</h2>}
          {session !== '' && (
            <p className={style.session}>
              {drawingTexts.session} <code>{session}</code>, {plural(rows.length, 'event')}
            </p>
          )}
          <ol className={style.events} aria-label={drawingTexts.eventsOf(day(date))}>
            {rows.map((row) => (
              <li key={String(row.insert_id)}>
                <time dateTime={String(row.time)}>{clock(String(row.time), timezone)}</time>
                <span className={style.event}>
                  {choose === undefined ? (
                    <span className={style.name}>{String(row.event_type)}</span>
                  ) : (
                    <button
                      type="button"
                      className={`${style.name} ${style.choose}`}
                      title={texts.answer.onlyThis(String(row.event_type))}
                      onClick={() => choose(String(row.event_type))}
                    >
                      {String(row.event_type)}
                    </button>
                  )}
                  <span className={style.details}>{detailsOf(row)}</span>
                </span>
              </li>
            ))}
          </ol>
        </section>
      ))}
      {answer.total > SHOWN_MAX && <p className="muted">{drawingTexts.older(answer.total - SHOWN_MAX)}</p>}
    </section>
  );
}

function detailsOf(row: Row): string {
  const properties = Object.entries((row.event_properties ?? {}) as Readonly<Record<string, unknown>>);
  const fields = Object.entries(row).filter(
    ([name, cell]) => !OWN.includes(name) && name !== '_ip' && cell !== null && typeof cell !== 'object',
  );
  return [...properties, ...fields].map(([name, cell]) => `${name}: ${String(cell as Cell)}`).join(' · ');
}
