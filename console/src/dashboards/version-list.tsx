// Versions of a document: what each would change, and the way back to it.
import { useRef, useState } from 'react';
import { instant } from '../answer/format.js';
import { messageOf } from '../api/message-of.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import type { VersionItem } from './api.js';
import { ChangesDialog } from './changes-dialog.js';
import style from './dashboards.module.css';
import { Failure } from './source-text.js';

interface Chosen {
  readonly source_yaml: string;
  /** Warnings that the text would have if it were restored. */
  readonly warnings?: readonly string[];
}

interface Props {
  readonly versions: readonly VersionItem[];
  readonly timezone: string;
  readonly current: { readonly version: number; readonly source_yaml: string };
  /** Whether versions are restored here. */
  readonly isEditable: boolean;
  readonly read: (version: number) => Promise<Chosen>;
  /** Stores the text as the newest version. */
  readonly restore: (source: string) => Promise<void>;
}

export function VersionList({ versions, timezone, current, isEditable, read, restore }: Props) {
  const [chosen, setChosen] = useState<Chosen>();
  const [problem, setProblem] = useState<string>();
  const isReading = useRef(false);
  const attempt = async (action: string, act: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await act();
    } catch (cause) {
      setProblem(messageOf(cause, action));
      setChosen(undefined);
    }
  };
  // A second version would take the place of the first in its dialog.
  const choose = async (version: number): Promise<void> => {
    if (isReading.current) return;
    isReading.current = true;
    await attempt(dashboardsTexts.restore(version), async () => setChosen(await read(version)));
    isReading.current = false;
  };
  return (
    <>
      <Failure text={problem} />
      <ul className={`card ${style.versions}`}>
        {versions.map(({ version, created_at: createdAt }) => (
          <li key={version}>
            <strong>{dashboardsTexts.version(version)}</strong>
            <span className="muted">{instant(createdAt, timezone)}</span>
            {version === current.version ? (
              <span className={style.badge}>{dashboardsTexts.current}</span>
            ) : (
              isEditable && (
                <button type="button" className="button small" onClick={() => void choose(version)}>
                  {dashboardsTexts.restore(version)}
                </button>
              )
            )}
          </li>
        ))}
      </ul>
      {chosen !== undefined && (
        <ChangesDialog
          before={current.source_yaml}
          after={chosen.source_yaml}
          warnings={chosen.warnings ?? []}
          confirm={dashboardsTexts.restoreIt}
          act={() => attempt(dashboardsTexts.restoreIt, () => restore(chosen.source_yaml))}
          close={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
