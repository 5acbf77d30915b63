// The last checks of an alert: a column for each by its value, and a table with their messages.
import { exact, instant } from '../answer/format.js';
import { ScrollingTable } from '../settings/scrolling-table.js';
import screen from '../shell/screen.module.css';
import { alertTexts as words } from '../texts/alerts.js';
import style from './alerts.module.css';
import type { Check } from './api.js';
import { Badge } from './badge.js';
import { Deliveries } from './deliveries.js';

interface Props {
  /** The newest first. */
  readonly checks: readonly Check[];
  readonly timezone: string;
}

export function Checks({ checks, timezone }: Props) {
  return (
    <div className={screen.section}>
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
                  <Badge of={check.outcome} text={words.outcomes[check.outcome]} />
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
