// Events that were rejected or dropped: a column for each of the last 30 days.
import { day, exact, monthAndDay } from '../answer/format.js';
import { serviceNow } from '../api/clock.js';
import style from './days.module.css';

const DAYS = 30;
const DAY_MS = 86_400_000;
const HEIGHT = 28;
const STEP = 8;

interface Props {
  /** Days of UTC. */
  readonly days: readonly { readonly date: string; readonly events: number }[];
  readonly name: string;
}

export function Days({ days, name }: Props) {
  const today = Math.floor(serviceNow() / DAY_MS) * DAY_MS;
  const most = Math.max(1, ...days.map(({ events }) => events));
  const first = new Date(today - (DAYS - 1) * DAY_MS);
  return (
    <figure className={style.days}>
      <svg viewBox={`0 0 ${DAYS * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
        {days.map(({ date, events }) => {
          const age = Math.round((today - Date.parse(date)) / DAY_MS);
          const height = Math.max(2, (events / most) * HEIGHT);
          return (
            <rect key={date} x={(DAYS - 1 - age) * STEP} y={HEIGHT - height} width={STEP - 2} height={height} rx="1">
              <title>{`${day(date)}: ${exact(events)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        {[first, new Date(today)].map((each) => (
          <span key={each.getTime()}>{monthAndDay(each.toISOString().slice(0, 10))}</span>
        ))}
      </figcaption>
    </figure>
  );
}
