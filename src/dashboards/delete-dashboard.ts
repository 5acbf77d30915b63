// Deletes a dashboard and its versions. The rules are those of writing: only its owner deletes a
// personal dashboard, only a project editor one of the project.
import { PublicError } from '../platform/errors.js';
import { isUuid } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { lockKey, personalWithoutPerson, requireEditor, visibleTo, type Writer } from './store.js';
import type { Visibility } from './visibility.js';

interface DashboardRow {
  readonly id: string;
  readonly key: string;
  readonly visibility: Visibility;
}

/**
 * Deletes by key, for credentials. The default for `visibility` is what the credential would
 * create, so that a repeated deletion never deletes another dashboard.
 */
export async function deleteDashboardByKey(
  postgres: Postgres,
  writer: Writer,
  { key, visibility }: { key: string; visibility: Visibility | undefined },
): Promise<string> {
  const { projectId, personId } = writer;
  const asked = visibility ?? (personId === undefined ? 'project' : 'personal');
  if (asked === 'personal' && personId === undefined) throw personalWithoutPerson();
  requireEditor(writer, asked);
  return postgres.transaction(async (transaction) => {
    await lockKey(transaction, { projectId, key });
    const row: DashboardRow | undefined = await visibleTo(transaction, writer)
      .where({ key, visibility: asked })
      .first('id', 'key', 'visibility');
    return deleteRow(transaction, row);
  });
}

/** Deletes by id, for signed-in people. */
export async function deleteDashboard(postgres: Postgres, writer: Writer, id: string): Promise<string> {
  return postgres.transaction(async (transaction) => {
    const find = async (): Promise<DashboardRow | undefined> =>
      isUuid(id) ? visibleTo(transaction, writer).where({ id }).first('id', 'key', 'visibility') : undefined;
    const found = await find();
    if (found === undefined) throw noSuchDashboard();
    await lockKey(transaction, { projectId: writer.projectId, key: found.key });
    // A sync may have changed it while this waited for the lock.
    const row = await find();
    if (row !== undefined) requireEditor(writer, row.visibility);
    return deleteRow(transaction, row);
  });
}

async function deleteRow(transaction: Postgres, row: DashboardRow | undefined): Promise<string> {
  if (row === undefined) throw noSuchDashboard();
  await transaction('dashboards').where({ id: row.id }).delete();
  return row.id;
}

const noSuchDashboard = () => new PublicError('not_found', 'there is no such dashboard');
