// Every table with data of people, once: erasure, purge and the deletion of projects read this
// list. A test compares it with the schemas of both databases.
import type { IdKind } from './id-hash.js';

export interface ClickHouseTable {
  readonly name: string;
  /** The expression that `upTo` is compared with. */
  readonly order: string;
  /**
   * Which rows belong to a person or device: its indexed 64-bit hash, its id, and an additional
   * condition.
   */
  readonly columns: Partial<Record<IdKind, { readonly hash: string; readonly id: string; readonly also?: string }>>;
}

/** By time of receipt, in milliseconds. The events of a device are those without a user id. */
export const EVENTS: ClickHouseTable = {
  name: 'events',
  order: 'toUnixTimestamp64Milli(received_at)',
  columns: {
    user: { hash: 'user_hash', id: 'user_id' },
    device: { hash: 'device_hash', id: 'device_id', also: "user_id = ''" },
  },
};

/** Ordered by sequence number. */
export const MAPPINGS: ClickHouseTable = {
  name: 'device_map',
  order: 'toUnixTimestamp64Micro(updated_at)',
  columns: { user: { hash: 'user_hash', id: 'user_id' }, device: { hash: 'device_hash', id: 'device_id' } },
};

/** Ordered by version. */
export const PROFILES: ClickHouseTable = {
  name: 'profiles',
  order: 'toInt64(version)',
  columns: { user: { hash: 'user_hash', id: 'user_id' } },
};

/** All of them also have a `project_id`. */
export const CLICKHOUSE_TABLES: readonly ClickHouseTable[] = [EVENTS, MAPPINGS, PROFILES];

export interface PostgresTable {
  readonly name: string;
  /**
   * Whether the rows are deleted with their project; otherwise their ids are replaced by hashes.
   */
  readonly isDeletedWithProject: boolean;
  /** Whether a purge rewrites the file, because erasures delete or change rows. */
  readonly isRewritten: boolean;
}

/**
 * In an order in which a project's rows can be deleted, and in which writers lock them: two
 * transactions that lock in different orders end one another.
 */
export const POSTGRES_TABLES: readonly PostgresTable[] = [
  { name: 'identity_outbox', isDeletedWithProject: true, isRewritten: true },
  { name: 'profiles', isDeletedWithProject: true, isRewritten: true },
  { name: 'profile_operations', isDeletedWithProject: true, isRewritten: true },
  { name: 'device_mappings', isDeletedWithProject: true, isRewritten: true },
  { name: 'catalog_projects', isDeletedWithProject: true, isRewritten: false },
  // Values that were in events and profiles; forgotten and found again after each erasure.
  { name: 'catalog_names', isDeletedWithProject: true, isRewritten: true },
  // Rows of answers in messages that wait to be sent.
  { name: 'alert_deliveries', isDeletedWithProject: true, isRewritten: true },
  // Written by members, about anything.
  { name: 'dashboards', isDeletedWithProject: true, isRewritten: false },
  { name: 'keep_receipts', isDeletedWithProject: true, isRewritten: false },
  { name: 'definitions', isDeletedWithProject: true, isRewritten: false },
  // Those of definitions; the others are deleted with their dashboards. Checks follow their alerts.
  { name: 'alerts', isDeletedWithProject: true, isRewritten: false },
  // Addresses that members have named as targets.
  { name: 'alert_unsubscribes', isDeletedWithProject: true, isRewritten: false },
  { name: 'webhook_secrets', isDeletedWithProject: true, isRewritten: false },
  { name: 'access_tokens', isDeletedWithProject: true, isRewritten: false },
  { name: 'audit_entries', isDeletedWithProject: false, isRewritten: true },
  { name: 'erasure_requests', isDeletedWithProject: false, isRewritten: true },
];
