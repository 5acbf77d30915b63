// Result of an experiment: the sample-ratio warning above all, then the verdict in a sentence, then the interval of each variant.
import { scaleLinear } from 'd3-scale';
import { numberIn } from '../answer/columns.js';
import { exact, percent } from '../answer/format.js';
import type { Answer } from '../api/answer.js';
import style from './choice.module.css';
import { useWidth } from './use-width.js';

interface Comparison {
  readonly control: string;
  readonly treatment: string;
  readonly absolute_lift: number | null;
  readonly sequential_ci_low: number;
  readonly sequential_ci_high: number;
}

const VERDICTS: Readonly<Record<string, readonly [verdict: string, tone: 'good' | 'bad' | 'calm']>> = {
  invalid: ['The result is not valid: units are not split as the weights say.', 'bad'],
  collecting: ['Too early to say: more people are needed.', 'calm'],
  treatment_better: ['A treatment is better than the control.', 'good'],
  control_better: ['The control is better than every treatment.', 'bad'],
  inconclusive: ['No difference is proven.', 'calm'],
};

const MARGIN = 26;
const HEIGHT = 28;

export function Choice({ answer }: { readonly answer: Answer }) {
  const status = String(answer.decision_status);
  const [verdict, tone] = VERDICTS[status] ?? [status, 'calm'];
  const warnings = (answer.warnings ?? []) as readonly string[];
  const comparisons = (answer.comparisons ?? []) as readonly Comparison[];
  const [ref, width] = useWidth<HTMLTableCellElement>();
  const bounds = answer.rows.flatMap((row) => [numberIn(row, 'ci_low') ?? 0, numberIn(row, 'ci_high') ?? 0]);
  const x = scaleLinear()
    .domain([Math.min(...bounds, 1), Math.max(...bounds, 0)])
    .nice(4)
    .range([MARGIN, Math.max(MARGIN + 1, width - MARGIN)]);
  return (
    <div className={style.choice}>
      {warnings.length > 0 && (
        <ul className={style.warnings} aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <p className={`${style.verdict} ${style[tone]}`}>{verdict}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={style.scroll} tabIndex={0} aria-label="Variants">
        <table className={style.table} aria-label={`${verdict} Conversion by variant`}>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              <th scope="col" className={style.number}>
                People
              </th>
              <th scope="col" className={style.number}>
                Converted
              </th>
              <th scope="col" className={style.number}>
                Rate
              </th>
              <th scope="col" ref={ref} className={style.interval}>
                <span className="unseen">Interval, 95 %</span>
                <svg width={width} height={HEIGHT} aria-hidden="true" className={style.scale}>
                  {x.ticks(4).map((value) => (
                    <text key={value} x={x(value)} y={HEIGHT - 8} textAnchor="middle">
                      {percent(value)}
                    </text>
                  ))}
                </svg>
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.rows.map((row) => {
              const [low, rate, high] = [
                numberIn(row, 'ci_low') ?? 0,
                numberIn(row, 'rate') ?? 0,
                numberIn(row, 'ci_high') ?? 0,
              ];
              return (
                <tr key={String(row.variant_key)}>
                  <th scope="row">{String(row.variant_key)}</th>
                  <td className={style.number}>{exact(numberIn(row, 'exposures') ?? 0)}</td>
                  <td className={style.number}>{exact(numberIn(row, 'conversions') ?? 0)}</td>
                  <td className={style.number}>{percent(rate)}</td>
                  <td>
                    <svg width={width} height={HEIGHT} role="img" aria-label={`${percent(low)} to ${percent(high)}`}>
                      <line x1={x(low)} x2={x(high)} y1={HEIGHT / 2} y2={HEIGHT / 2} className={style.range} />
                      <circle cx={x(rate)} cy={HEIGHT / 2} r="5" className={style.point} />
                    </svg>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <ul className={style.lifts}>
        {comparisons.map((of) => (
          <li key={of.treatment}>
            <strong>{of.treatment}</strong> against {of.control}:{' '}
            {of.absolute_lift === null ? 'no rate yet' : `${signed(of.absolute_lift)} points`}, between{' '}
            {signed(of.sequential_ci_low)} and {signed(of.sequential_ci_high)} at every look
          </li>
        ))}
      </ul>
    </div>
  );
}

const signed = (share: number): string =>
  (share * 100).toLocaleString('en', { signDisplay: 'exceptZero', maximumFractionDigits: 2 });
