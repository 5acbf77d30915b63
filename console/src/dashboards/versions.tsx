// Versions of a dashboard: what each would change, and the way back to it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FailedAnswer } from '../answer/failed-answer.js';
import { instant } from '../answer/format.js';
import type { Project } from '../boot.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { setAddress } from './address.js';
import { changeDashboard, type Dashboard, readVersion, versionsQuery } from './api.js';
import { ChangesDialog } from './changes-dialog.js';
import style from './dashboards.module.css';

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
}

export function Versions({ project, dashboard }: Props) {
  const { id, version: current, source_yaml: before, synced_at: syncedAt } = dashboard;
  const { data, error, refetch } = useQuery(versionsQuery(project.id, id));
  const [chosen, setChosen] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const client = useQueryClient();
  const leave = (): void => setAddress({ view: 'cards', values: {} });
  const compare = async (version: number): Promise<void> => {
    setChosen((await readVersion(project.id, id, version)).source_yaml);
  };
  const restore = async (): Promise<void> => {
    try {
      await changeDashboard(project.id, id, { source: chosen ?? '', baseVersion: current, isDryRun: false });
      await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
      leave();
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
      setChosen(undefined);
    }
  };
  return (
    <section aria-label={dashboardsTexts.versions}>
      <header className={style.head}>
        <h1>{dashboardsTexts.versionsOf(dashboard.title)}</h1>
        <button type="button" className="button" onClick={leave}>
          {dashboardsTexts.back}
        </button>
      </header>
      {error && <FailedAnswer failure={error} retry={() => void refetch()} />}
      {problem !== undefined && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      {syncedAt !== null && <p className={style.note}>{dashboardsTexts.syncedNote}</p>}
      <ul className={`card ${style.versions}`}>
        {data?.map(({ version, created_at: createdAt }) => (
          <li key={version}>
            <strong>{dashboardsTexts.version(version)}</strong>
            <span className="muted">{instant(createdAt, project.timezone)}</span>
            {version === current ? (
              <span className={style.badge}>{dashboardsTexts.current}</span>
            ) : (
              syncedAt === null && (
                <button type="button" className="button small" onClick={() => void compare(version)}>
                  {dashboardsTexts.restore(version)}
                </button>
              )
            )}
          </li>
        ))}
      </ul>
      {chosen !== undefined && (
        <ChangesDialog
          before={before}
          after={chosen}
          confirm={dashboardsTexts.restoreIt}
          act={restore}
          close={() => setChosen(undefined)}
        />
      )}
    </section>
  );
}
