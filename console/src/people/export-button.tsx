// Downloads all events of a person.
import { useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { sendJson } from '../api/request.js';
import type { Project } from '../boot.js';
import { download } from '../shell/download.js';
import { peopleTexts } from '../texts/people.js';

/** All events of a person may be many. */
const EXPORT_WITHIN_MS = 3_600_000;

export function ExportButton({ project, id }: { readonly project: Project; readonly id: string }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const path = `/api/projects/${project.id}/exports`;
      const response = await sendJson('POST', path, { user_id: id }, { withinMs: EXPORT_WITHIN_MS });
      download(await response.blob(), 'events.ndjson');
    } catch (error) {
      setProblem(messageOf(error, peopleTexts.export));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className="button" disabled={isBusy} onClick={() => void run()}>
        {peopleTexts.export}
      </button>
      {problem !== undefined && <span role="alert">{problem}</span>}
    </>
  );
}
