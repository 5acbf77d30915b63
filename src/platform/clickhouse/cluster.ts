// Rewrites the migrations for a cluster: every table becomes a replicated one on each shard
// (`events_local`) and a distributed one over them that keeps the name (`events`), so that all
// other code is unchanged. Shards are chosen by project: all rows, mappings and profiles of a
// project are on one shard, where lookups and joins need no other shard.

const CREATE_TABLE = /^CREATE TABLE IF NOT EXISTS (\w+) \(([\s\S]*?)\n\)\s*ENGINE = (\w+)(\([^)]*\))?([\s\S]*)$/;
const CREATE_VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\s+([\s\S]*)$/;
const DROP_VIEW = /^DROP VIEW IF EXISTS (\w+)$/;
const RENAME_TABLE = /^RENAME TABLE IF EXISTS (\w+) TO (\w+)$/;
const ALTER_TABLE = /^ALTER TABLE (\w+)\s+([\s\S]*)$/;

export const localName = (table: string): string => `${table}_local`;

/**
 * Rewrites one statement. Throws for an unknown form, because a wrong guess would only be noticed
 * in production.
 */
export function toClusterStatements(statement: string, cluster: string): string[] {
  const onCluster = `ON CLUSTER '${cluster}'`;
  const table = CREATE_TABLE.exec(statement);
  if (table !== null) {
    const [, name = '', columns = '', engine = '', args, rest = ''] = table;
    const local = localName(name);
    return [
      `CREATE TABLE IF NOT EXISTS ${local} ${onCluster} (${columns}\n)\nENGINE = ${replicated(engine, args)}${rest}`,
      createDistributed(name, cluster),
    ];
  }
  const view = CREATE_VIEW.exec(statement);
  if (view !== null) {
    const [, name = '', target = '', select = ''] = view;
    // Rows that arrive on a shard are looked up there, and stay there.
    const localSelect = select.replaceAll(/\bFROM (\w+)/g, (_, source: string) => `FROM ${localName(source)}`);
    return [`CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} ${onCluster} TO ${localName(target)} AS\n${localSelect}`];
  }
  const dropped = DROP_VIEW.exec(statement);
  if (dropped !== null) return [`${statement} ${onCluster} SYNC`];
  const renamed = RENAME_TABLE.exec(statement);
  if (renamed !== null) {
    const [, from = '', to = ''] = renamed;
    // A distributed table stores no rows, and names its local tables.
    return [
      `RENAME TABLE IF EXISTS ${localName(from)} TO ${localName(to)} ${onCluster}`,
      `DROP TABLE IF EXISTS ${from} ${onCluster} SYNC`,
      createDistributed(to, cluster),
    ];
  }
  const alter = ALTER_TABLE.exec(statement);
  if (alter !== null) {
    const [, name = '', change = ''] = alter;
    const local = `ALTER TABLE ${localName(name)} ${onCluster} ${change}`;
    // Of the alterable properties, a distributed table has only columns.
    return /^(?:ADD|DROP|MODIFY|RENAME) COLUMN\b/.test(change)
      ? [local, `ALTER TABLE ${name} ${onCluster} ${change}`]
      : [local];
  }
  throw new Error(`a migration has a statement that has no form on a cluster: ${statement.slice(0, 80)}`);
}

const createDistributed = (name: string, cluster: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} ON CLUSTER '${cluster}' AS ${localName(name)}
ENGINE = Distributed('${cluster}', currentDatabase(), '${localName(name)}', sipHash64(project_id))`;

/**
 * An engine that stores nothing needs no replication. {shard} and {replica} in the path are
 * settings of the server.
 */
function replicated(engine: string, args = ''): string {
  return engine.endsWith('MergeTree') ? `Replicated${engine}${args}` : `${engine}${args}`;
}

/**
 * Settings of every statement: a query of one project runs on its shard only, including its joins.
 */
export const CLUSTER_SETTINGS = {
  optimize_skip_unused_shards: 1,
  distributed_product_mode: 'local',
  // An insert is acknowledged when the shard has stored it, not when this server has queued it.
  distributed_foreground_insert: 1,
  // Always the first available replica of a shard, so that a key lookup sees the rows inserted just
  // before.
  load_balancing: 'in_order',
} as const;
