// Parses the body of a dry run, and checks its query and condition as a saved document would be.
import { z } from 'zod';
import { newBudget, type QueryContext } from '../dashboards/check-queries.js';
import { parseTemplate } from '../dashboards/template.js';
import { readYaml } from '../dashboards/yaml-source.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { compile } from '../query/compile.js';
import { QueryError, type QueryErrorDetail } from '../query/errors.js';
import { timezoneSchema } from '../reports/config-schema.js';
import { checkAlerts } from './check-alerts.js';
import { type AlertConfig, alertSchema } from './config-schema.js';

export const dryRunBody = z.strictObject({
  query: alertSchema.shape.query.meta({ description: 'without placeholders' }),
  when: alertSchema.shape.when.meta({ examples: ['value < 5', 'all change < -0.3', 'no rows'] }),
  timezone: timezoneSchema.optional().meta({ description: 'default: that of the project' }),
});

export interface DryRunCheck {
  readonly alert: Pick<AlertConfig, 'query' | 'when'>;
  readonly context: QueryContext;
}

export interface DryRunProblems {
  /** Sentences; empty when the alert could be saved. */
  readonly sentences: readonly string[];
  /** Those of the query with their places and fixes, as its answer has them. */
  readonly details: readonly QueryErrorDetail[];
}

export const dryRunTask: ThreadTask<DryRunCheck, DryRunProblems> = {
  module: import.meta.url,
  name: 'dryRunTask',
  run: ({ alert, context }) => {
    const complete: AlertConfig = { ...alert, id: 'dry-run', every: '1d', to: ['mailto:none@example.com'] };
    // JSON is YAML; positions in it mean nothing to the caller.
    const source = readYaml(JSON.stringify({ alerts: [complete] }));
    // Its fixes would be of that JSON.
    const budget = { ...newBudget(), charactersToFix: 0 };
    const problems = checkAlerts({ source, context, budget });
    const wrong = problems.some(({ path }) => path === OF_QUERY) ? errorOf(alert.query, context) : undefined;
    const others = wrong === undefined ? problems : problems.filter(({ path }) => path !== OF_QUERY);
    return {
      sentences: [
        ...(wrong === undefined ? [] : [`query: ${wrong.message}`]),
        ...others.map(({ path, message, hint }) => `${path.replace('alerts[0].', '')}: ${message}; ${hint}`),
      ],
      details: wrong?.details ?? [],
    };
  },
  tooCostly: 'the query takes more than {limit} to check; shorten it',
};

const OF_QUERY = 'alerts[0].query';

/** Undefined when its text is right, and wrong in an alert only: placeholders, a list of people. */
function errorOf(query: string, context: QueryContext): QueryError | undefined {
  if (parseTemplate(query).some(({ kind }) => kind !== 'text')) return undefined;
  try {
    compile(query, { ...context, limit: 100, offset: 0, suggestsFixes: true });
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}
