// Versions of the definitions.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pending } from '../answer/pending.js';
import { isRefused } from '../api/request.js';
import { isAtLeast, type Project } from '../boot.js';
import { VersionList } from '../dashboards/version-list.js';
import screen from '../shell/screen.module.css';
import { definitionTexts as words } from '../texts/definitions.js';
import { setAddress } from './address.js';
import { changeDefinitions, type Definitions, readAgain, readVersion, versionsQuery } from './api.js';
import { check } from './use-checked.js';

interface Props {
  readonly project: Project;
  readonly definitions: Definitions;
}

export function Versions({ project, definitions }: Props) {
  const { version: baseVersion, is_synced: isSynced } = definitions;
  const request = useQuery(versionsQuery(project.id));
  const { data } = request;
  const client = useQueryClient();
  const leave = (): void => setAddress({ view: 'list' });
  const read = async (version: number) => {
    const { source_yaml } = await readVersion(project.id, version);
    const { warnings } = await check(project.id, { source: source_yaml, baseVersion });
    return { source_yaml, warnings };
  };
  const restore = async (source: string): Promise<void> => {
    try {
      await changeDefinitions(project.id, { source, baseVersion, isDryRun: false });
    } catch (error) {
      // A newer version is what the next attempt changes.
      if (isRefused(error)) await readAgain(client, project.id);
      throw error;
    }
    await readAgain(client, project.id);
    leave();
  };
  return (
    <section className={screen.page} aria-label={words.versions}>
      <header className={screen.head}>
        <h1>{words.versions}</h1>
        <button type="button" className="button" onClick={leave}>
          {words.back}
        </button>
      </header>
      <Pending of={request} />
      {isSynced && <p className="muted">{words.syncedVersions}</p>}
      {data !== undefined && (
        <VersionList
          versions={data}
          timezone={project.timezone}
          current={definitions}
          isEditable={!isSynced && isAtLeast(project.role, 'admin')}
          read={read}
          restore={restore}
        />
      )}
    </section>
  );
}
