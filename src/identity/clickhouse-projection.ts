// ClickHouse projection of profiles and device mappings: encodes their rows and inserts them.

import {
  DateTime64Column,
  encodeBlock,
  LowCardinalityColumn,
  StringColumn,
  toByteString,
  UInt64Column,
  UuidColumn,
} from '../../packages/clickhouse-native/native.js';
import { isPersonal } from '../catalog/names.js';
import type { CatalogRecorder } from '../catalog/recorder.js';
import { SeenProperties } from '../catalog/seen-names.js';
import { PropertyBuckets } from '../ingest/insert/property-buckets.js';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { insertWithQueryIdLock } from '../platform/clickhouse/query-id-lock.js';
import type { DeviceMapping } from './mapping-store.js';
import type { Properties } from './property-ops.js';

export interface ProjectedProfile {
  readonly projectId: string;
  readonly userId: string;
  readonly properties: Properties;
  /** Empty for none. */
  readonly email: string;
  readonly emailDomain: string;
  /** Milliseconds. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly version: number;
}

export class ProfileBlock {
  readonly #properties = new PropertyBuckets();
  readonly #columns = {
    project_id: new UuidColumn(),
    user_id: new StringColumn(),
    email: new StringColumn(),
    email_domain: new LowCardinalityColumn(),
    first_seen: new DateTime64Column(),
    last_seen: new DateTime64Column(),
    props_str: this.#properties.strings,
    props_num: this.#properties.numbers,
    props_bool: this.#properties.booleans,
    version: new UInt64Column(),
  };
  readonly #names = new Map<string, SeenProperties>();
  readonly #catalogs: Pick<CatalogRecorder, 'hasManyValues'>;
  rows = 0;

  constructor(catalogs: Pick<CatalogRecorder, 'hasManyValues'>) {
    this.#catalogs = catalogs;
  }

  /** Property keys and values for the catalogs of the projects. */
  get names(): ReadonlyMap<string, SeenProperties> {
    return this.#names;
  }

  add(profile: ProjectedProfile): void {
    const columns = this.#columns;
    columns.project_id.add(profile.projectId);
    columns.user_id.add(toByteString(profile.userId));
    columns.email.add(toByteString(profile.email));
    columns.email_domain.add(profile.emailDomain);
    columns.first_seen.add(profile.firstSeen);
    columns.last_seen.add(profile.lastSeen);
    columns.version.add(profile.version);
    this.#properties.add(profile.properties, toByteString, this.#namesOf(profile.projectId));
    this.rows += 1;
  }

  #namesOf(projectId: string): SeenProperties {
    const known = this.#names.get(projectId);
    if (known !== undefined) return known;
    const hasMany = (field: string) => isPersonal(field) || this.#catalogs.hasManyValues(projectId, field);
    const names = new SeenProperties('user', hasMany);
    this.#names.set(projectId, names);
    return names;
  }

  encode(): Buffer {
    return encodeBlock(Object.entries(this.#columns), this.rows);
  }
}

export class DeviceMapBlock {
  readonly #columns = {
    project_id: new UuidColumn(),
    device_id: new StringColumn(),
    user_id: new StringColumn(),
    // Sequence numbers are microseconds.
    updated_at: new DateTime64Column(6),
  };
  rows = 0;

  add({ projectId, deviceId, userId, seq }: DeviceMapping): void {
    this.#columns.project_id.add(projectId);
    this.#columns.device_id.add(toByteString(deviceId));
    this.#columns.user_id.add(toByteString(userId));
    this.#columns.updated_at.add(seq);
    this.rows += 1;
  }

  encode(): Buffer {
    return encodeBlock(Object.entries(this.#columns), this.rows);
  }
}

type ProjectionTable = 'profiles' | 'device_map';

/**
 * Query id of all inserts into a projection table. ClickHouse runs a query id once at a time: while
 * none runs, no insert of a killed worker can still arrive.
 */
export const projectionQueryId = (database: string, table: ProjectionTable): string =>
  `identity-copy-${database}-${table}`;

/** Resolves when the rows are stored. */
export async function insertProjection(
  clickhouse: ClickHouseClient,
  { table, database, block }: { table: ProjectionTable; database: string; block: ProfileBlock | DeviceMapBlock },
): Promise<void> {
  if (block.rows === 0) return;
  await insertWithQueryIdLock(clickhouse, {
    table,
    bytes: block.encode(),
    queryId: projectionQueryId(database, table),
  });
}
