// Checks `reports:` of a document across its items: unique ids.
import type { DashboardProblem } from '../dashboards/problems.js';
import type { YamlSource } from '../dashboards/yaml-source.js';
import { quote } from '../query/errors.js';
import { REPORTS_MAX } from './config-schema.js';

export function checkReports(source: YamlSource): DashboardProblem[] {
  const listed = source.at(['reports']);
  const ids = (Array.isArray(listed) ? listed.slice(0, REPORTS_MAX) : []).map((_, index) =>
    source.at(['reports', index, 'id']),
  );
  return ids.flatMap((id, index) => {
    if (typeof id !== 'string' || ids.indexOf(id) === index) return [];
    const remark = { message: `the id ${quote(id)} is used twice`, hint: 'every report has its own' };
    return [source.problemAt(['reports', index, 'id'], remark)];
  });
}
