// Versions of a dashboard, for those who can see it.
import { PublicError } from '../platform/errors.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { DashboardConfig } from './config-schema.js';
import { type Reader, requireDashboard } from './store.js';

export interface VersionItem {
  readonly version: number;
  readonly checksum: string;
  readonly created_at: Date;
}

/** The newest first. */
export async function listVersions(postgres: Postgres, reader: Reader, dashboardId: string): Promise<VersionItem[]> {
  const { id } = await requireDashboard(postgres, reader, dashboardId);
  return postgres('dashboard_versions')
    .where({ dashboard_id: id })
    .orderBy('version', 'desc')
    .select('version', 'checksum', 'created_at');
}

export interface Version extends VersionItem {
  readonly config: DashboardConfig;
  readonly source_yaml: string;
}

export async function requireVersion(
  postgres: Postgres,
  reader: Reader,
  { dashboardId, version }: { dashboardId: string; version: string },
): Promise<Version> {
  const { id } = await requireDashboard(postgres, reader, dashboardId);
  const found: Version | undefined = /^\d{1,9}$/.test(version)
    ? await postgres('dashboard_versions')
        .where({ dashboard_id: id, version: Number(version) })
        .first('version', 'checksum', 'created_at', 'config', 'source_yaml')
    : undefined;
  if (found === undefined) throw new PublicError('not_found', 'the dashboard has no such version');
  return found;
}
