// Rights of the service's account in ClickHouse: which it needs, and which it lacks on a server of
// one's own. docs/operating.md has the statements that grant them.
import { text } from 'node:stream/consumers';
import { type ClickHouseClient, rowsOf } from './client.js';

/** On the service's database. */
export const DATABASE_RIGHTS = ['SHOW', 'SELECT', 'INSERT', 'ALTER', 'CREATE TABLE', 'CREATE VIEW', 'DROP TABLE'];
/** System tables that ClickHouse may show only to accounts with a grant. */
export const SYSTEM_TABLES = ['disks', 'merges', 'mutations', 'parts', 'processes'];
/** Of the tables that are created; servers may ask for a grant of each. */
export const TABLE_ENGINES = ['MergeTree', 'ReplacingMergeTree', 'Null', 'Memory'];

/** What keeps the account from its work, each as a phrase; empty when nothing does. */
export async function findMissingRights(clickhouse: ClickHouseClient): Promise<string[]> {
  const settings = await findRefusingSettings(clickhouse);
  // With such a setting ClickHouse reports rights as missing that were granted.
  if (settings.length > 0) return settings;
  const rights = [
    ...DATABASE_RIGHTS.map((right) => ({ right: `${right} ON *`, missing: `no ${right} on its database` })),
    ...SYSTEM_TABLES.map((table) => ({
      right: `SELECT ON system.${table}`,
      missing: `no SELECT on system.${table}`,
    })),
  ];
  const granted = await Promise.all(rights.map(({ right }) => isGranted(clickhouse, right)));
  return rights.filter((_, index) => granted[index] === false).map(({ missing }) => missing);
}

async function findRefusingSettings(clickhouse: ClickHouseClient): Promise<string[]> {
  const rows = await rowsOf<{ readonly: number; ddl: number }>(clickhouse, SETTINGS);
  const [{ readonly, ddl } = { readonly: 0, ddl: 1 }] = rows;
  return [
    ...(readonly === 0 ? [] : [`readonly = ${readonly} in its profile`]),
    ...(ddl === 1 ? [] : ['allow_ddl = 0 in its profile']),
  ];
}

const SETTINGS = "SELECT toUInt32(getSetting('readonly')) AS readonly, toUInt32(getSetting('allow_ddl')) AS ddl";

async function isGranted(clickhouse: ClickHouseClient, right: string): Promise<boolean> {
  // Not query(): ClickHouse accepts no FORMAT after this statement.
  const { stream } = await clickhouse.exec({ query: `CHECK GRANT ${right}` });
  return (await text(stream)).trim() === '1';
}
