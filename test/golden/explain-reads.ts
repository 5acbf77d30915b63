// Tables and columns that the engine reads for a statement, from its query plan: a line per read.
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import type { Statement } from '../../src/query/print/print.js';

interface Column {
  readonly Name: string;
}

interface PlanNode {
  readonly 'Node Type': string;
  /** Of a read: database and table. */
  readonly Description?: string;
  readonly Header?: readonly Column[];
  readonly 'Prewhere info'?: {
    readonly 'Prewhere filter'?: { readonly 'Prewhere filter expression'?: { readonly Inputs: readonly Column[] } };
  };
  readonly Plans?: readonly PlanNode[];
}

const readsOf = (node: PlanNode): PlanNode[] => [
  ...(node['Node Type'].startsWith('ReadFromMergeTree') ? [node] : []),
  ...(node.Plans ?? []).flatMap(readsOf),
];

/** The project is read by every scan, and left out. */
function showRead(node: PlanNode): string {
  const filter = node['Prewhere info']?.['Prewhere filter']?.['Prewhere filter expression']?.Inputs ?? [];
  const names = [...(node.Header ?? []), ...filter].map(({ Name }) => Name);
  const columns = [...new Set(names)].filter((name) => name !== 'project_id').sort();
  return `${(node.Description ?? '').replace(/^.*\./, '')}: ${columns.join(', ')}`;
}

export async function explainReads(clickhouse: ClickHouseClient, { sql, params }: Statement): Promise<string> {
  const answer = await clickhouse.query({
    query: `EXPLAIN json = 1, header = 1, description = 1, actions = 1 ${sql}`,
    query_params: { ...params },
    use_multipart_params_auto: true,
    format: 'JSONCompact',
  });
  const { data } = await answer.json<[string]>();
  const plans = JSON.parse(data.map(([line]) => line).join('\n')) as readonly { readonly Plan: PlanNode }[];
  return plans.flatMap(({ Plan }) => readsOf(Plan).map(showRead)).join('\n');
}
