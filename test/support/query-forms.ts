// Forms of sources and stages for tests that try each stage behind each source.
import { STAGES } from '../../src/query/language.js';
import type { SourceKind, StageKind } from '../../src/query/parse/syntax.js';
import { SOURCES } from '../../src/query/sources/index.js';

/** Sources that need another example than that of the table of sources. */
const SOURCE_EXAMPLES: Partial<Readonly<Record<SourceKind, string>>> = {
  funnel: 'funnel signup -> pay',
  retention: 'retention signup',
  paths: 'paths from signup',
  lifecycle: 'lifecycle *',
  stickiness: 'stickiness *',
  user: 'user "ada"',
  formula: 'formula count(pay) / unique(signup)',
  inspect: 'inspect signup',
  choice: 'choice button | results pay',
};

/**
 * Stages that need other examples than that of the table of stages: several, where one may equal
 * the default of a source.
 */
const EXAMPLES: Partial<Readonly<Record<StageKind, readonly string[]>>> = {
  where: ['where _country = "DE"'],
  last: ['last 3d'],
  from_to: ['from 2026-11-01 to 2026-11-03'],
  named_range: ['yesterday', 'this quarter', 'last quarter'],
  aggregate: ['count by _country', 'unique', 'sum event_properties.price', 'latest _path per user_id'],
  by: ['by _country', 'by month', 'by weekday'],
  list: ['list _path'],
  sort: [],
  window: ['window 3d'],
  depth: ['depth 3'],
  compare: ['compare previous', 'compare 1y', 'compare weekdays', 'compare from 2026-10-01 to 2026-10-03'],
};

export const sourceExample = (kind: string): string =>
  SOURCE_EXAMPLES[kind as SourceKind] ?? SOURCES[kind as SourceKind].example;

/** Each stage, in one form or several. */
export const STAGE_EXAMPLES: readonly string[] = Object.entries(STAGES).flatMap(
  ([kind, { example }]) => EXAMPLES[kind as StageKind] ?? [example],
);
