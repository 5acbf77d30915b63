// Disks of a ClickHouse server. Object storage has no end and is left out.
import { type ClickHouseClient, READ_ONLY, rowsOf } from './client.js';

export interface Disk {
  readonly name: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

const DISKS = `SELECT name, toFloat64(free_space) AS freeBytes, toFloat64(total_space) AS totalBytes
  FROM system.disks WHERE total_space > 0 AND total_space < 1e18`;

export const readDisks = (clickhouse: ClickHouseClient): Promise<Disk[]> => rowsOf(clickhouse, DISKS, {}, READ_ONLY);
