// Versions of a dashboard.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pending } from '../answer/pending.js';
import { isRefused } from '../api/request.js';
import type { Project } from '../boot.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { setAddress } from './address.js';
import { changeDashboard, type Dashboard, isEditableBy, readVersion, versionsQuery } from './api.js';
import style from './dashboards.module.css';
import { VersionList } from './version-list.js';

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
}

export function Versions({ project, dashboard }: Props) {
  const { id, version: baseVersion, synced_at: syncedAt } = dashboard;
  const request = useQuery(versionsQuery(project.id, id));
  const { data } = request;
  const client = useQueryClient();
  const readAgain = () =>
    Promise.all(
      ['dashboard', 'dashboard-versions'].map((key) => client.invalidateQueries({ queryKey: [key, project.id, id] })),
    );
  const leave = (): void => setAddress({ view: 'cards', values: {} });
  const restore = async (source: string): Promise<void> => {
    try {
      await changeDashboard(project.id, id, { source, baseVersion, isDryRun: false });
    } catch (error) {
      // A newer version is what the next attempt changes.
      if (isRefused(error)) await readAgain();
      throw error;
    }
    await readAgain();
    leave();
  };
  return (
    <section aria-label={dashboardsTexts.versions}>
      <header className={style.head}>
        <h1>{dashboardsTexts.versionsOf(dashboard.title)}</h1>
        <button type="button" className="button" onClick={leave}>
          {dashboardsTexts.back}
        </button>
      </header>
      <Pending of={request} />
      {syncedAt !== null && <p className={style.note}>{dashboardsTexts.syncedNote}</p>}
      {data !== undefined && (
        <VersionList
          versions={data}
          timezone={project.timezone}
          current={dashboard}
          isEditable={isEditableBy(project, dashboard)}
          read={(version) => readVersion(project.id, id, version)}
          restore={restore}
        />
      )}
    </section>
  );
}
