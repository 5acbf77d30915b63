// Parses and checks the text of a dashboard document: YAML, structure, variables, then cards and
// their queries.
import { createHash } from 'node:crypto';
import { checkAlerts } from '../alerts/check-alerts.js';
import { checkTargets, type TargetsContext } from '../alerts/check-targets.js';
import type { QueryNames } from '../definitions/query-names.js';
import type { CompileContext } from '../query/compile.js';
import { checkReports } from '../reports/check-reports.js';
import { checkCardCount, checkCards } from './check-cards.js';
import { newBudget } from './check-queries.js';
import { checkStructure } from './check-structure.js';
import { checkVariables } from './check-variables.js';
import { configSchema, type DashboardConfig } from './config-schema.js';
import { type DashboardProblem, toBadRequest } from './problems.js';
import { readYaml, type YamlSource } from './yaml-source.js';

export interface ParsedDashboard {
  readonly config: DashboardConfig;
  /** Hash of the configuration: comments, whitespace and the order of keys do not change it. */
  readonly checksum: string;
}

export interface DashboardContext extends Pick<CompileContext, 'projectId' | 'nowMs'>, QueryNames, TargetsContext {
  /** The key under which the document is synced. */
  readonly key: string;
  /** Default for documents without a time zone. */
  readonly timezone: string;
}

/**
 * Throws one bad_request with all problems; a problem in one part does not hide those of others.
 */
export function parseDashboard(text: string, { key, ...context }: DashboardContext): ParsedDashboard {
  const source = readYaml(text);
  if (source.value === undefined) throw toBadRequest(source.problems);
  const tooMany = checkCardCount(source);
  if (tooMany.length > 0) throw toBadRequest(tooMany);

  const timezone = configSchema.shape.timezone.safeParse(source.at(['timezone'])).data ?? context.timezone;
  const asked = { source, context: { ...context, timezone }, budget: newBudget() };
  const { variables, problems } = checkVariables(asked);
  const all = [
    ...source.problems,
    ...checkStructure(source),
    ...checkKey(source, key),
    ...problems,
    ...checkCards({ ...asked, variables }),
    ...checkAlerts(asked),
    ...checkReports(source),
    ...checkTargets(source, context),
  ];
  if (all.length > 0) throw toBadRequest(all);
  const config = configSchema.parse(source.value);
  return { config, checksum: checksumOf(config) };
}

/**
 * The schema fixes the order of keys, except for variables, which viewers see in the document's
 * order.
 */
const checksumOf = (config: DashboardConfig): string =>
  createHash('sha256').update(JSON.stringify(config)).digest('hex');

function checkKey(source: YamlSource, key: string): DashboardProblem[] {
  const id = source.at(['id']);
  if (typeof id !== 'string' || id === key) return [];
  const hint = `write id: ${key}, or remove it`;
  return [source.problemAt(['id'], { message: `the id "${id}" is not the key "${key}" of the address`, hint })];
}
