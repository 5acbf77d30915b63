// Adds an alert to the text of a dashboard document, at the end of `alerts`. The rest of the text
// stays the same.
import { isSeq } from 'yaml';
import type { AlertConfig } from '../alerts/config-schema.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type ChangedText, parseChanged } from './parse-changed.js';
import type { DashboardContext } from './parse-dashboard.js';
import { insertField, insertItem, requireDocument } from './splice.js';

export function addAlert(source: string, alert: AlertConfig): string {
  const alerts: unknown = requireDocument(source).get('alerts', true);
  return isSeq(alerts)
    ? insertItem(source, { list: ['alerts'], index: alerts.items.length }, alert)
    : insertField(source, 'sections', { key: 'alerts', value: [alert] });
}

export interface AlertRequest {
  readonly sourceYaml: string;
  readonly alert: AlertConfig;
  readonly context: DashboardContext;
}

export const addAlertTask: ThreadTask<AlertRequest, ChangedText> = {
  module: import.meta.url,
  name: 'addAlertTask',
  run: ({ sourceYaml, alert, context }) => parseChanged(addAlert(sourceYaml, alert), 'alert', context),
  tooCostly: 'the dashboard takes more than {limit} to check; split it',
};
