// Result of an experiment: a split that is not as stated above all, then the verdict in a sentence,
// then the interval of each variant and that of each difference.
import { scaleLinear } from 'd3-scale';
import {
  type ChoiceResult,
  type Comparison,
  readChoice,
  showLift,
  showRate,
  TONES,
  type Tone,
  unitOf,
  type Variant,
  verdictOf,
} from '../answer/choice-result.js';
import { exact, percent } from '../answer/format.js';
import type { Answer } from '../api/answer.js';
import { choiceTexts } from '../texts/choice.js';
import { plural } from '../texts/plural.js';
import { texts } from '../texts.js';
import style from './choice.module.css';
import { useWidth } from './use-width.js';

const MARGIN = 28;
const HEIGHT = 28;
const TICKS = 4;

export function Choice({ answer }: { readonly answer: Answer }) {
  const result = readChoice(answer);
  if (result === undefined) return null;
  return (
    <div className={style.choice}>
      <Verdict result={result} />
      <Plan result={result} />
      <Remarks result={result} />
      <Variants result={result} />
      <Differences result={result} />
    </div>
  );
}

interface Props {
  readonly result: ChoiceResult;
}

/** A split that contradicts the weights is an alert: nothing below it counts. */
export function Verdict({ result }: Props) {
  const status = result.decision_status;
  const [first, rest] = splitSentence(verdictOf(result));
  return (
    <p
      className={`${style.verdict} ${style[TONES[status]]} ${status === 'invalid' ? style.invalid : ''}`}
      {...(status === 'invalid' && { role: 'alert' })}
    >
      {first}
      {rest !== '' && <span className={style.because}> {rest}</span>}
    </p>
  );
}

/** What was found, and by how much. */
function splitSentence(sentence: string): readonly [string, string] {
  const at = sentence.indexOf(': ');
  return at < 0 ? [sentence, ''] : [sentence.slice(0, at + 1), sentence.slice(at + 2)];
}

/**
 * How many people and days are still needed for a verdict. What cannot be said is among the
 * warnings.
 */
export function Plan({ result }: Props) {
  const { plan } = result;
  const isDecided = ['good', 'bad'].includes(TONES[result.decision_status]);
  if (plan === undefined || plan.units_needed === null || isDecided) return null;
  const { relative_lift: lift, power, units_needed: needed, units_left: left, days_left: days } = plan;
  return (
    <p className="muted">
      {choiceTexts.plan({
        ...{ lift: percent(lift), power: percent(power), needed: exact(needed) },
        left: left === null || left === 0 ? undefined : exact(left),
        days: days === null ? undefined : plural(days, 'day'),
      })}
    </p>
  );
}

export function Remarks({ result: { warnings } }: Props) {
  if (warnings.length === 0) return null;
  return (
    <ul className={style.warnings} aria-label={texts.answer.warnings}>
      {warnings.map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}

export function Variants({ result }: Props) {
  const [ref, width] = useWidth<HTMLTableCellElement>();
  const { variants, method } = result;
  const bounds = variants.flatMap(({ ci_low, ci_high, rate }) => [ci_low, ci_high, rate]).filter((of) => of !== null);
  const x = scaleLinear()
    .domain(domainOf(bounds))
    .nice(TICKS)
    .range([MARGIN, Math.max(MARGIN + 1, width - MARGIN)]);
  const t = choiceTexts;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={style.scroll} tabIndex={0} aria-label={t.variants}>
      <table className={style.table} aria-label={t.conversion(verdictOf(result))}>
        <thead>
          <tr>
            <th scope="col">{t.variant}</th>
            <th scope="col" className={style.number}>
              {t.converted}
            </th>
            <th scope="col" className={style.number}>
              {method.value === undefined ? t.rate : t.mean}
            </th>
            <th scope="col" ref={ref} className={style.interval}>
              <span className="unseen">{t.interval}</span>
              <svg width={width} height={HEIGHT} aria-hidden="true" className={style.scale}>
                {x.ticks(width < 260 ? 2 : TICKS).map((value) => (
                  <text key={value} x={x(value)} y={HEIGHT - 8} textAnchor="middle">
                    {showRate(result, value)}
                  </text>
                ))}
              </svg>
            </th>
          </tr>
        </thead>
        <tbody>
          {variants.map((variant) => (
            <tr key={variant.variant_key}>
              <th scope="row">{variant.variant_key}</th>
              <td className={style.number}>{t.convertedOf(exact(variant.conversions), exact(variant.exposures))}</td>
              <td className={style.number}>
                <strong>{showRate(result, variant.rate)}</strong>
              </td>
              <td>
                <Interval
                  name={nameOf(result, variant)}
                  width={width}
                  place={x}
                  low={variant.ci_low}
                  value={variant.rate}
                  high={variant.ci_high}
                  tone="calm"
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const nameOf = (result: ChoiceResult, { ci_low, ci_high }: Variant): string =>
  choiceTexts.between(showRate(result, ci_low), showRate(result, ci_high));

/** The difference of each treatment from the control, beside zero. */
export function Differences({ result }: Props) {
  const [ref, width] = useWidth<HTMLTableCellElement>();
  const { comparisons } = result;
  if (comparisons.length === 0) return null;
  const bounds = comparisons
    .flatMap((of) => [of.sequential_ci_low, of.absolute_lift, of.sequential_ci_high])
    .filter((of) => of !== null);
  const most = Math.max(0, ...bounds.map(Math.abs)) || 1;
  const x = scaleLinear()
    .domain([-most, most])
    .nice(TICKS)
    .range([MARGIN, Math.max(MARGIN + 1, width - MARGIN)]);
  const t = choiceTexts;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={style.scroll} tabIndex={0} aria-label={t.differences}>
      <table className={style.table} aria-label={t.differences}>
        <thead>
          <tr>
            <th scope="col">{t.against(comparisons[0]?.control ?? '')}</th>
            <th scope="col" className={style.number}>
              {t.difference}
            </th>
            <th scope="col" className={style.number}>
              {t.atEveryLook}
            </th>
            <th scope="col" ref={ref} className={style.interval}>
              <span className="unseen">{t.atEveryLook}</span>
              <svg width={width} height={HEIGHT} aria-hidden="true" className={style.scale}>
                {[x.domain()[0] ?? 0, 0, x.domain()[1] ?? 0].map((value) => (
                  <text key={value} x={x(value)} y={HEIGHT - 8} textAnchor="middle">
                    {value === 0 ? `0${unitOf(result)}` : showLift(result, value)}
                  </text>
                ))}
              </svg>
            </th>
          </tr>
        </thead>
        <tbody>
          {comparisons.map((of) => {
            const [low, high] = [of.sequential_ci_low, of.sequential_ci_high].map((lift) => showLift(result, lift));
            const between = t.between(low ?? '', high ?? '');
            return (
              <tr key={of.treatment}>
                <th scope="row">{of.treatment}</th>
                <td className={style.number}>
                  <strong>{showLift(result, of.absolute_lift)}</strong>
                  {of.absolute_lift !== null && unitOf(result)}
                </td>
                <td className={style.number}>{of.sequential_ci_low === null ? '–' : between}</td>
                <td>
                  <Interval
                    name={between}
                    width={width}
                    place={x}
                    low={of.sequential_ci_low}
                    value={of.absolute_lift}
                    high={of.sequential_ci_high}
                    tone={toneOf(of)}
                    zero={x(0)}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function toneOf({ sequential_ci_low: low, sequential_ci_high: high }: Comparison): Tone {
  if (low === null || high === null) return 'calm';
  return low > 0 ? 'good' : high < 0 ? 'bad' : 'calm';
}

interface IntervalProps {
  readonly name: string;
  readonly width: number;
  readonly place: (value: number) => number;
  readonly low: number | null;
  readonly value: number | null;
  readonly high: number | null;
  readonly tone: Tone;
  /** Where the line of no difference stands. */
  readonly zero?: number;
}

export function Interval({ name, width, place, low, value, high, tone, zero }: IntervalProps) {
  const color = tone === 'calm' ? 'var(--series-1)' : `var(--${tone})`;
  return (
    <svg width={width} height={HEIGHT} role="img" aria-label={name}>
      {zero !== undefined && <line x1={zero} x2={zero} y1="0" y2={HEIGHT} className={style.zero} />}
      {low !== null && high !== null && (
        <line
          x1={place(low)}
          x2={place(high)}
          y1={HEIGHT / 2}
          y2={HEIGHT / 2}
          className={style.range}
          style={{ stroke: color }}
        />
      )}
      {value !== null && <circle cx={place(value)} cy={HEIGHT / 2} r="5" style={{ fill: color }} />}
    </svg>
  );
}

/** From the least to the greatest value, with some room where they are equal. */
function domainOf(values: readonly number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? [least - 0.5, most + 0.5] : [least, most];
}
