// Diagnostics of an experiment's results: sample ratio, excluded units, time of the exposures,
// statistical method.
import type { ChoiceResult } from '../answer/choice-result.js';
import { exact, minute, percent } from '../answer/format.js';
import { experimentTexts } from '../texts/experiments.js';
import style from './experiments.module.css';

interface Props {
  readonly result: ChoiceResult;
  readonly timezone: string;
}

export function Diagnostics({ result, timezone }: Props) {
  return (
    <section className={`card ${style.card}`} aria-labelledby="diagnostics">
      <h2 id="diagnostics">{experimentTexts.diagnostics}</h2>
      <dl className={style.facts}>
        {factsOf(result, timezone).map(([name, value, more]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {more?.map((line) => (
                <span key={line} className="muted">
                  {line}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Fact = readonly [name: string, value: string, more?: readonly string[]];

function factsOf(result: ChoiceResult, timezone: string): readonly Fact[] {
  const { diagnostics: of, variants, comparisons, method } = result;
  const units = variants.reduce((sum, { exposures }) => sum + exposures, 0) || 1;
  const shares = variants.map(({ variant_key, exposures }) =>
    experimentTexts.shareOf(variant_key, percent(exposures / units), percent(of.expected_ratios[variant_key] ?? 0)),
  );
  const optional: readonly (readonly [string, number])[] = [
    [experimentTexts.severalVariants, of.multi_variant_units],
    [experimentTexts.withoutUnit, of.exposures_without_unit],
    [experimentTexts.immature, of.immature_units],
  ];
  return [
    [experimentTexts.split, splitOf(result), shares],
    ...comparisons
      .filter(({ probability_best }) => probability_best !== null)
      .map((each): Fact => [experimentTexts.best(each.treatment), chance(each.probability_best ?? 0)]),
    ...optional.map(([name, count]): Fact => [name, exact(count)]),
    ...instant(experimentTexts.firstExposure, of.first_exposure_at, timezone),
    ...instant(experimentTexts.lastExposure, of.last_exposure_at, timezone),
    ...(method.winsorized_at == null ? [] : [[experimentTexts.winsorized, exact(method.winsorized_at)] as const]),
    ...(method.cuped_days == null
      ? []
      : [[experimentTexts.varianceRemoved(method.cuped_days), percent(method.variance_removed ?? 0)] as const]),
    [experimentTexts.method, experimentTexts.methodOf({ ...method, alpha: percent(method.alpha) })],
  ];
}

function splitOf({ diagnostics, decision_status: status }: ChoiceResult): string {
  const p = diagnostics.sample_ratio_p_value;
  if (p === null) return experimentTexts.splitUnknown;
  const shown = p < 0.001 ? '< 0.001' : `= ${p.toLocaleString('en', { maximumFractionDigits: 3 })}`;
  return status === 'invalid' ? experimentTexts.splitWrong(shown) : experimentTexts.splitRight(shown);
}

/** A probability in percent; one near 0 or 1 is shown as a bound, never as certain. */
const chance = (share: number): string =>
  share > 0.999 ? `> ${percent(0.999)}` : share < 0.001 ? `< ${percent(0.001)}` : percent(share);

const instant = (name: string, at: string | null, timezone: string): readonly Fact[] =>
  at === null ? [] : [[name, minute(at, timezone)]];
