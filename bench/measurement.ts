// Measurements of a benchmark, and how they are printed: each line shows the result beside its aim.

export interface Aim {
  readonly relation: 'at most' | 'at least';
  readonly value: number;
}

export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Absent for explanatory figures. */
  readonly aim?: Aim;
}

export interface BenchResult {
  readonly bench: string;
  readonly seconds: number;
  readonly measurements: readonly Measurement[];
  /** Set when the benchmark was aborted: the list then holds what it had reported. */
  readonly failure?: string;
}

export const atMost = (value: number): Aim => ({ relation: 'at most', value });
export const atLeast = (value: number): Aim => ({ relation: 'at least', value });

export function isMet({ value, aim }: Measurement): boolean | undefined {
  if (aim === undefined) return undefined;
  return aim.relation === 'at most' ? value <= aim.value : value >= aim.value;
}

export function toTable(results: readonly BenchResult[]): string {
  const rows = results.flatMap((result) => [
    ...result.measurements.map((measurement) => toCells(result.bench, measurement)),
    ...(result.failure === undefined ? [] : [[result.bench, `failed: ${result.failure}`, '', '', '']]),
  ]);
  const header = ['bench', 'what', 'measured', 'aim', ''];
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((cells) => cellAt(cells, column).length)));
  const toLine = (cells: readonly string[]) =>
    widths
      .map((width, column) =>
        column === 2 ? cellAt(cells, column).padStart(width) : cellAt(cells, column).padEnd(width),
      )
      .join('  ')
      .trimEnd();
  return [header, widths.map((width) => '-'.repeat(width)), ...rows].map(toLine).join('\n');
}

const cellAt = (cells: readonly string[], column: number): string => cells[column] ?? '';

function toCells(bench: string, measurement: Measurement): string[] {
  const { name, value, unit, aim } = measurement;
  const met = isMet(measurement);
  return [
    bench,
    name,
    `${formatNumber(value)}${unit === '' ? '' : ` ${unit}`}`,
    aim === undefined ? '' : `${aim.relation} ${formatNumber(aim.value)}`,
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

/** Three significant digits below 1,000, integers with separators above. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
