// Adds an alert or a report to the text of a dashboard document, at the end of its list. The rest
// of the text stays the same.
import { isSeq } from 'yaml';
import type { AlertConfig } from '../alerts/config-schema.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import type { ReportConfig } from '../reports/config-schema.js';
import { type ChangedText, parseChanged } from './parse-changed.js';
import type { DashboardContext } from './parse-dashboard.js';
import { insertField, insertItem, requireDocument } from './splice.js';

/** A list of the document with one more item. */
export type Addition =
  | { readonly list: 'alerts'; readonly item: AlertConfig }
  | { readonly list: 'reports'; readonly item: ReportConfig };

const NAMES = { alerts: 'alert', reports: 'report' } as const;

export function addToList(source: string, { list, item }: Addition): string {
  const items: unknown = requireDocument(source).get(list, true);
  return isSeq(items)
    ? insertItem(source, { list: [list], index: items.items.length }, item)
    : insertField(source, 'sections', { key: list, value: [item] });
}

export interface AdditionRequest {
  readonly sourceYaml: string;
  readonly addition: Addition;
  readonly context: DashboardContext;
}

export const addToListTask: ThreadTask<AdditionRequest, ChangedText> = {
  module: import.meta.url,
  name: 'addToListTask',
  run: ({ sourceYaml, addition, context }) =>
    parseChanged(addToList(sourceYaml, addition), NAMES[addition.list], context),
  tooCostly: 'the dashboard takes more than {limit} to check; split it',
};
