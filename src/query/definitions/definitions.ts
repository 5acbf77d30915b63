// Definitions of a project: named events, cohorts and metrics, whose text takes the place of the
// name in a query. As data, so that threads and the browser can receive them.

export const DEFINITION_KINDS = ['event', 'cohort', 'metric'] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

export interface Definition {
  readonly kind: DefinitionKind;
  readonly name: string;
  /** An event with its conditions, `* | where …`, or a query with one metric. */
  readonly query: string;
  readonly about?: string | undefined;
  /** Only of a metric: what its number is, such as `percent`. */
  readonly unit?: string | undefined;
  /** Line of the definition in the document, from 1. */
  readonly line: number;
}

export type Definitions = readonly Definition[];

/** In a condition and in `by`, a cohort is a field: `cohort.power`. */
export const COHORT_PREFIX = 'cohort.';

const WRITTEN: Readonly<Record<DefinitionKind, (name: string) => string>> = {
  event: (name) => name,
  cohort: (name) => COHORT_PREFIX + name,
  metric: (name) => `metric ${name}`,
};

/** As a query has it. */
export const writtenDefinition = ({ kind, name }: Pick<Definition, 'kind' | 'name'>): string => WRITTEN[kind](name);
