// Ratios of B's latency under attack to its latency alone, per probe, and the table of a run.
import { PAUSE_MS, PROBES, type ProbeName, type Sample, type Samples } from './probes.js';

export interface Ratio {
  readonly aloneMs: number;
  readonly attackedMs: number;
  readonly median: number;
  readonly p95: number;
  /** Some samples had not ended with the measurement: the ratio is a lower bound. */
  readonly isCut: boolean;
  readonly refusals: number;
}

export type Ratios = Readonly<Record<ProbeName, Ratio>>;

export interface AttackResult {
  readonly attack: string;
  readonly what: string;
  readonly ratios: Ratios;
  readonly eventLoops: { readonly alone: EventLoopDelays; readonly attacked: EventLoopDelays };
}

/** Maximum event loop delays. */
export interface EventLoopDelays {
  readonly webMs: number;
  readonly queryMs: number;
}

const AIMS = { reading: 3, ingestion: 5 } as const;
/** Maximum delay of an erasure by a hundred others. */
const ERASURE_DELAY_MS_MAX = 2000;
/** Smaller latencies depend more on the scheduler of the machine than on the service. */
const NOTICEABLE_MS = 100;

const OMITTED_MAX = 1000;

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const sortedMs = (samples: readonly Sample[]): number[] => samples.map(({ ms }) => ms).sort((a, b) => a - b);

/**
 * Corrects for coordinated omission, as HdrHistogram does: during a slow sample a probe takes no
 * others, although B would have sent as many as usual. Each missing sample would have taken the
 * rest of the slow one.
 */
const withOmitted = (samples: readonly Sample[], everyMs: number): Sample[] =>
  samples.flatMap((sample) => {
    const omitted = Math.min(OMITTED_MAX, Math.floor(sample.ms / everyMs));
    return Array.from({ length: omitted + 1 }, (_, index) => ({ ...sample, ms: sample.ms - index * everyMs }));
  });

export function toRatios(alone: Samples, attacked: Samples): Ratios {
  const entries = (Object.keys(PROBES) as ProbeName[]).map((name): [ProbeName, Ratio] => {
    const before = sortedMs(alone[name]);
    const aloneMs = percentile(before, 0.5);
    const during = sortedMs(withOmitted(attacked[name], PAUSE_MS[name] + aloneMs));
    const attackedMs = percentile(during, 0.5);
    return [
      name,
      {
        aloneMs,
        attackedMs,
        median: attackedMs / aloneMs,
        p95: percentile(during, 0.95) / percentile(before, 0.95),
        isCut: attacked[name].some(({ isCut }) => isCut),
        refusals: attacked[name].reduce((sum, { refusals }) => sum + refusals, 0),
      },
    ];
  });
  return Object.fromEntries(entries) as unknown as Ratios;
}

/** The probes that missed their aim by more than `factor`, as text. */
export function findMisses({ attack, ratios }: AttackResult, factor: number): string[] {
  return (Object.keys(PROBES) as ProbeName[]).flatMap((name) => {
    const { aloneMs, attackedMs, median } = ratios[name];
    const kind = PROBES[name];
    const isMissed =
      kind === 'erasure'
        ? attackedMs - aloneMs > ERASURE_DELAY_MS_MAX * factor
        : median > AIMS[kind] * factor && attackedMs > NOTICEABLE_MS;
    const times = `${median.toFixed(1)} times as long: ${Math.round(aloneMs)} ms alone, ${Math.round(attackedMs)} ms`;
    return isMissed ? [`${attack}: ${name} took ${times}`] : [];
  });
}

const toCell = ({ median, p95, isCut, refusals }: Ratio): string => {
  const text = `${isCut ? '≥ ' : ''}${median.toFixed(1)} (${p95.toFixed(1)})`;
  return refusals === 0 ? text : `${text}, ${refusals} refused`;
};

/** A cell is the ratio of the medians, with that of the 95th percentiles in parentheses. */
export function toTable(results: readonly AttackResult[]): string {
  const names = Object.keys(PROBES) as ProbeName[];
  const header = ['A', ...names.map((name) => `B: ${name}`), 'event loop of `web`, ms', 'of `query`, ms'];
  const lines = results.map(({ what, ratios, eventLoops: { alone, attacked } }) => [
    what,
    ...names.map((name) => toCell(ratios[name])),
    `${Math.round(alone.webMs)} → ${Math.round(attacked.webMs)}`,
    `${Math.round(alone.queryMs)} → ${Math.round(attacked.queryMs)}`,
  ]);
  const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [toLine(header), toLine(header.map(() => '---')), ...lines.map(toLine)].join('\n');
}
