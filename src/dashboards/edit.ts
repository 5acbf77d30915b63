// Writes of dashboards by signed-in people. A change names the version that it is based on, so that
// no other one is lost, and a dashboard that a repository syncs is changed only there.
import { PublicError } from '../platform/errors.js';
import { isUuid } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import {
  allowMove,
  create,
  type DashboardRow,
  lockKey,
  ROW,
  requireEditor,
  type Sync,
  type Synced,
  update,
  visibleTo,
  write,
} from './store.js';

/** Throws when the key is taken. */
export async function createDashboard(postgres: Postgres, sync: Sync): Promise<Synced> {
  return write(postgres, sync, async (transaction) => {
    await lockKey(transaction, sync);
    const visibility = sync.visibility ?? 'personal';
    const taken = await visibleTo(transaction, sync).where({ key: sync.key, visibility }).first('id');
    if (taken !== undefined)
      throw new PublicError('bad_request', `there is another dashboard with the key "${sync.key}"`);
    return create(transaction, sync);
  });
}

export interface Change extends Sync {
  readonly id: string;
  readonly baseVersion: number;
}

export async function changeDashboard(postgres: Postgres, change: Change): Promise<Synced> {
  return write(postgres, change, async (transaction) => {
    await lockKey(transaction, change);
    const existing: DashboardRow | undefined = isUuid(change.id)
      ? await visibleTo(transaction, change)
          .where({ id: change.id })
          .first(...ROW)
      : undefined;
    if (existing === undefined) throw new PublicError('not_found', 'there is no such dashboard');
    requireEditable(existing, change);
    const visibility = change.visibility ?? existing.visibility;
    if (visibility !== existing.visibility) await allowMove(transaction, change, existing);
    return update(transaction, change, { existing, visibility });
  });
}

function requireEditable({ visibility, synced_at, version }: DashboardRow, change: Change): void {
  requireEditor(change, visibility);
  if (synced_at !== null) {
    throw new PublicError(
      'forbidden',
      'the dashboard is synced from a repository, which would undo the change; change it there, or save a copy',
    );
  }
  if (version === change.baseVersion) return;
  throw new PublicError(
    'bad_request',
    `the dashboard has version ${version} by now, and the change is based on version ${change.baseVersion}; load it again`,
  );
}
