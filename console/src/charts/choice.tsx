// Result of an experiment: the sample-ratio warning above all, then the verdict in a sentence, then the interval of each variant.
import { scaleLinear } from 'd3-scale';
import { numberIn } from '../answer/columns.js';
import { exact, percent } from '../answer/format.js';
import type { Answer } from '../api/answer.js';
import { texts } from '../texts.js';
import style from './choice.module.css';
import { useWidth } from './use-width.js';

interface Comparison {
  readonly control: string;
  readonly treatment: string;
  readonly absolute_lift: number | null;
  /** Null while values are few. */
  readonly sequential_ci_low: number | null;
  readonly sequential_ci_high: number | null;
}

/** Of `plan 10%`; null where it cannot be said. */
interface Plan {
  readonly relative_lift: number;
  readonly power: number;
  readonly units_needed: number | null;
  readonly units_left: number | null;
  readonly days_left: number | null;
}

type Tone = 'good' | 'bad' | 'calm';

const TONES: Readonly<Record<string, Tone>> = { invalid: 'bad', treatment_better: 'good', control_better: 'bad' };

const MARGIN = 26;
const HEIGHT = 28;

export function Choice({ answer }: { readonly answer: Answer }) {
  const status = String(answer.decision_status);
  const verdict = (texts.charts.verdicts as Readonly<Record<string, string>>)[status] ?? status;
  const tone = TONES[status] ?? 'calm';
  const warnings = (answer.warnings ?? []) as readonly string[];
  const comparisons = (answer.comparisons ?? []) as readonly Comparison[];
  const plan = answer.plan as Plan | undefined;
  const isValue = (answer.method as { readonly value?: string } | undefined)?.value !== undefined;
  const level = isValue ? amount : percent;
  const [ref, width] = useWidth<HTMLTableCellElement>();
  const bounds = answer.rows.flatMap((row) => [numberIn(row, 'ci_low') ?? 0, numberIn(row, 'ci_high') ?? 0]);
  const x = scaleLinear()
    .domain([Math.min(...bounds, isValue ? Number.POSITIVE_INFINITY : 1), Math.max(...bounds, 0)])
    .nice(4)
    .range([MARGIN, Math.max(MARGIN + 1, width - MARGIN)]);
  return (
    <div className={style.choice}>
      {warnings.length > 0 && (
        <ul className={style.warnings} aria-label={texts.answer.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <p className={`${style.verdict} ${style[tone]}`}>{verdict}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={style.scroll} tabIndex={0} aria-label={texts.charts.variants}>
        <table className={style.table} aria-label={texts.charts.conversion(verdict)}>
          <thead>
            <tr>
              <th scope="col">{texts.charts.variant}</th>
              <th scope="col" className={style.number}>
                {texts.charts.people}
              </th>
              <th scope="col" className={style.number}>
                {texts.charts.converted}
              </th>
              <th scope="col" className={style.number}>
                {isValue ? texts.charts.mean : texts.charts.rate}
              </th>
              <th scope="col" ref={ref} className={style.interval}>
                <span className="unseen">{texts.charts.interval}</span>
                <svg width={width} height={HEIGHT} aria-hidden="true" className={style.scale}>
                  {x.ticks(4).map((value) => (
                    <text key={value} x={x(value)} y={HEIGHT - 8} textAnchor="middle">
                      {level(value)}
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
                  <td className={style.number}>{level(rate)}</td>
                  <td>
                    <svg
                      width={width}
                      height={HEIGHT}
                      role="img"
                      aria-label={texts.charts.between(level(low), level(high))}
                    >
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
            <strong>{of.treatment}</strong>{' '}
            {texts.charts.lift({
              control: of.control,
              lift: of.absolute_lift === null ? undefined : signed(of.absolute_lift, isValue),
              low: of.sequential_ci_low === null ? undefined : signed(of.sequential_ci_low, isValue),
              high: of.sequential_ci_high === null ? undefined : signed(of.sequential_ci_high, isValue),
            })}
          </li>
        ))}
      </ul>
      {plan && plan.units_needed !== null && (
        <p>
          {texts.charts.plan({
            lift: percent(plan.relative_lift),
            power: percent(plan.power),
            needed: exact(plan.units_needed),
            left: plan.units_left ? exact(plan.units_left) : undefined,
            days: plan.days_left === null ? undefined : exact(plan.days_left),
          })}
        </p>
      )}
    </div>
  );
}

const amount = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 6 });

const signed = (lift: number, isValue: boolean): string => {
  const points = (lift * 100).toLocaleString('en', { signDisplay: 'exceptZero', maximumFractionDigits: 2 });
  return isValue
    ? lift.toLocaleString('en', { signDisplay: 'exceptZero', maximumSignificantDigits: 6 })
    : texts.charts.points(points);
};
