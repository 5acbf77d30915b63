// The last checks of an alert: a column for each by its value, and a table with their messages.
import { exact, instant } from '../answer/format.js';
import { ScrollingTable } from '../settings/scrolling-table.js';
import { alertTexts as words } from '../texts/alerts.js';
import style from './alerts.module.css';
import type { Check, Delivery } from './api.js';

interface Props {
  /** The newest first. */
  readonly checks: readonly Check[];
  readonly timezone: string;
}

export function Checks({ checks, timezone }: Props) {
  return (
    <div className={style.section}>
      <h2>{words.checks}</h2>
      {checks.length === 0 ? (
        <p className="muted">{words.notChecked}</p>
      ) : (
        <>
          <Columns checks={checks} timezone={timezone} />
          <ScrollingTable name={words.checks} columns={words.columns}>
            {checks.map((check) => (
              <tr key={check.at}>
                <th scope="row">{instant(check.at, timezone)}</th>
                <td>
                  <span className={style.state} data-state={check.outcome}>
                    {words.outcomes[check.outcome]}
                  </span>
                  {check.error !== null && <p className={style.error}>{check.error}</p>}
                </td>
                <td>{check.value === null ? '' : exact(check.value)}</td>
                <td>{words.states[check.state]}</td>
                <td>
                  <Deliveries deliveries={check.deliveries} timezone={timezone} />
                </td>
              </tr>
            ))}
          </ScrollingTable>
        </>
      )}
    </div>
  );
}

function Deliveries({ deliveries, timezone }: { deliveries: readonly Delivery[]; timezone: string }) {
  if (deliveries.length === 0) return null;
  return (
    <ul className={style.deliveries}>
      {deliveries.map((delivery) => (
        <li key={delivery.to}>
          {delivery.to} · {statusOf(delivery, timezone)}
          {delivery.error !== null && <span className={style.error}> {delivery.error}</span>}
        </li>
      ))}
    </ul>
  );
}

function statusOf({ status, attempts, ended_at: endedAt }: Delivery, timezone: string): string {
  const at = endedAt === null ? '' : ` ${instant(endedAt, timezone)}`;
  return `${words.deliveries[status]}${at}${attempts > 1 ? `, ${words.attempts(attempts)}` : ''}`;
}

const HEIGHT = 48;
const STEP = 8;
/** Checks without a number are as low. */
const LOWEST = 3;

/** From the oldest to the newest; zero is the bottom unless a value is below it. */
function Columns({ checks, timezone }: Props) {
  const inOrder = [...checks].reverse();
  const values = inOrder.map(({ value }) => value ?? 0);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const heightOf = (value: number): number => ((value - least) / (most - least || 1)) * HEIGHT;
  return (
    <svg
      viewBox={`0 0 ${inOrder.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={style.columns}
      style={{ maxWidth: `${inOrder.length * STEP * 2}px` }}
      role="img"
      aria-label={words.columnsName(inOrder.map(({ outcome }) => outcome))}
    >
      {inOrder.map(({ at, outcome, value }, index) => {
        const height = Math.max(LOWEST, value === null ? LOWEST : heightOf(value));
        return (
          <rect key={at} data-state={outcome} x={index * STEP} y={HEIGHT - height} width={STEP - 2} height={height}>
            <title>{`${instant(at, timezone)}: ${words.outcomes[outcome]}${value === null ? '' : `, ${exact(value)}`}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
