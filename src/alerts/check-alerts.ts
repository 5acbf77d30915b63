// Checks `alerts:` of a document: unique ids, queries that compile, and conditions that name a
// column of their query. Alerts with structural problems are skipped, because the schema reports
// them.
import { compileAt, type QueryCheck } from '../dashboards/check-queries.js';
import type { Path } from '../dashboards/path.js';
import type { DashboardProblem } from '../dashboards/problems.js';
import { parseTemplate } from '../dashboards/template.js';
import { PEOPLE_MODE } from '../query/people-columns.js';
import { ALERTS_MAX, type AlertConfig, alertSchema } from './config-schema.js';
import { checkColumn, parseWhen, type WhenProblem } from './when.js';

export type AlertsCheck = Omit<QueryCheck, 'variables'>;

/** Problems of the list `alerts` at the top of the document. */
export function checkAlerts(check: AlertsCheck): DashboardProblem[] {
  const listed = check.source.at(['alerts']);
  const seen = new Set<string>();
  return (Array.isArray(listed) ? listed.slice(0, ALERTS_MAX) : []).flatMap((value, index) => {
    const alert = alertSchema.safeParse(value).data;
    if (alert === undefined) return [];
    const path = ['alerts', index];
    const problems = checkAlert(check, path, alert);
    if (seen.has(alert.id)) {
      const remark = { message: `the id "${alert.id}" is used twice`, hint: 'every alert has its own' };
      problems.push(check.source.problemAt([...path, 'id'], remark));
    }
    seen.add(alert.id);
    return problems;
  });
}

function checkAlert(check: AlertsCheck, path: Path, { query, when: text }: AlertConfig): DashboardProblem[] {
  const { source } = check;
  const parsed = parseWhen(text);
  const toProblem = ({ offset, ...remark }: WhenProblem) => source.problemInText([...path, 'when'], offset, remark);
  const problems = 'problem' in parsed ? [toProblem(parsed.problem)] : [];
  const placeholder = parseTemplate(query).find(({ kind }) => kind !== 'text');
  if (placeholder !== undefined) {
    const message = 'the query of an alert has no placeholders, because it has no viewer';
    const hint = 'write the range and the values into the query';
    return [...problems, source.problemInText([...path, 'query'], placeholder.offset, { message, hint })];
  }
  const { compiled, problems: ofQuery } = compileAt(check, [...path, 'query'], query);
  if (compiled === undefined) return [...problems, ...ofQuery];
  if (compiled.mode === PEOPLE_MODE) {
    const remark = { message: 'an alert cannot list people', hint: 'count them: | unique' };
    return [...problems, source.problemAt([...path, 'query'], remark)];
  }
  const ofColumn = 'when' in parsed ? checkColumn(parsed.when, compiled) : undefined;
  return ofColumn === undefined ? problems : [...problems, toProblem(ofColumn)];
}
