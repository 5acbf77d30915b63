// Event types with their figures of the last 30 days.
import { compact, day, exact, localDate } from '../answer/format.js';
import { dataTexts } from '../texts/data.js';
import { toData } from './address.js';
import style from './data.module.css';
import { type EventName, SHOWN_MAX } from './names.js';
import { Share } from './share.js';

interface Props {
  readonly events: readonly EventName[];
  readonly open: string | undefined;
  readonly timezone: string;
}

export function EventTable({ events, open, timezone }: Props) {
  const most = Math.max(1, ...events.map(({ count }) => count));
  return (
    <table className={style.table} aria-label={dataTexts.parts.events}>
      <thead>
        <tr>
          <th scope="col">{dataTexts.event}</th>
          <th scope="col" className={style.number}>
            {dataTexts.events}
          </th>
          <th scope="col" className={`${style.number} ${style.wide}`}>
            {dataTexts.people}
          </th>
          <th scope="col" className={`${style.number} ${style.wide}`}>
            {dataTexts.lastSeen}
          </th>
        </tr>
      </thead>
      <tbody>
        {events.slice(0, SHOWN_MAX).map(({ name, count, people, lastSeen }) => (
          <tr key={name} data-open={name === open}>
            <th scope="row">
              <a href={toData('events', name)} title={name} aria-current={name === open ? 'true' : undefined}>
                {name}
              </a>
            </th>
            <td className={style.number}>
              <Share share={count / most} />
              <span className={style.value} title={exact(count)}>
                {compact(count)}
              </span>
            </td>
            <td className={`${style.number} ${style.wide}`} title={exact(people)}>
              {compact(people)}
            </td>
            <td className={`${style.number} ${style.wide} muted`}>
              {lastSeen === undefined ? dataTexts.earlier : day(localDate(lastSeen, timezone))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
