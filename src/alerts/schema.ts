// Parses the body of a dry run, and checks its query and condition as a saved document would be.
import { z } from 'zod';
import { newBudget, type QueryContext } from '../dashboards/check-queries.js';
import { readYaml } from '../dashboards/yaml-source.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
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

/** Sentences with the problems; empty when the alert could be saved. */
export const dryRunTask: ThreadTask<DryRunCheck, readonly string[]> = {
  module: import.meta.url,
  name: 'dryRunTask',
  run: ({ alert, context }) => {
    const complete: AlertConfig = { ...alert, id: 'dry-run', every: '1d', to: ['mailto:none@example.com'] };
    // JSON is YAML; positions in it mean nothing to the caller.
    const source = readYaml(JSON.stringify({ alerts: [complete] }));
    const problems = checkAlerts({ source, context, budget: newBudget() });
    return problems.map(({ path, message, hint }) => `${path.replace('alerts[0].', '')}: ${message}; ${hint}`);
  },
  tooCostly: 'the query takes more than {limit} to check; shorten it',
};
