// Guards of an experiment: the share of units with each event, beside that of the control.
import { type ChoiceResult, type GuardComparison, showLift } from '../answer/choice-result.js';
import { percent } from '../answer/format.js';
import { experimentTexts } from '../texts/experiments.js';
import { texts } from '../texts.js';
import style from './experiments.module.css';

type State = keyof typeof experimentTexts.guardStates;

/** A guard becomes worse when it becomes more frequent. */
const stateOf = ({ sequential_ci_low: low, sequential_ci_high: high }: GuardComparison): State =>
  low > 0 ? 'worse' : high < 0 ? 'better' : 'same';

const share = (rate: number | null): string => (rate === null ? '–' : percent(rate));

export function Guards({ result }: { readonly result: ChoiceResult }) {
  const rows = (result.diagnostics.guards ?? []).flatMap(({ event, comparisons }) =>
    comparisons.map((of) => ({ event, of, state: stateOf(of) })),
  );
  // Guards are shares, whatever the goal is.
  const lift = (value: number | null): string =>
    showLift({ ...result, method: { ...result.method, value: undefined } as never }, value);
  const columns = experimentTexts.guardColumns;
  return (
    <section className={`card ${style.card}`} aria-labelledby="guards">
      <h2 id="guards">{experimentTexts.guards}</h2>
      <p className="muted">{experimentTexts.guardsNote}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={style.scroll} tabIndex={0} aria-label={texts.answer.table}>
        <table className={style.table} aria-labelledby="guards">
          <thead>
            <tr>
              <th scope="col">{columns.event}</th>
              <th scope="col">{columns.treatment}</th>
              <th scope="col" className={style.number}>
                {columns.control}
              </th>
              <th scope="col" className={style.number}>
                {columns.difference}
              </th>
              <th scope="col">{experimentTexts.result}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ event, of, state }) => (
              <tr key={`${event} ${of.treatment}`}>
                <th scope="row">{event}</th>
                <td>
                  {of.treatment} {share(of.treatment_rate)}
                </td>
                <td className={style.number}>{share(of.control_rate)}</td>
                <td className={style.number}>
                  {lift(of.absolute_lift)}{' '}
                  <span className="muted">
                    ({lift(of.sequential_ci_low)} to {lift(of.sequential_ci_high)})
                  </span>
                </td>
                <td className={style[state]}>{experimentTexts.guardStates[state]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
