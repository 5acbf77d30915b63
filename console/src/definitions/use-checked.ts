// The text of the definitions while it is edited, checked by the service when its author pauses.
import { useEffect, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isRefused, RequestFailed } from '../api/request.js';
import type { Problem } from '../dashboards/api.js';
import { changeDefinitions } from './api.js';

const PAUSE_MS = 600;

export interface Checked {
  /** The text that was checked. */
  readonly source: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Why the text could not be checked. */
  readonly failure?: string;
  /** Whether a newer version may be stored. */
  readonly isRefused?: boolean;
}

export async function check(
  projectId: string,
  { source, baseVersion }: { readonly source: string; readonly baseVersion: number },
  signal?: AbortSignal,
): Promise<Checked> {
  try {
    const { warnings } = await changeDefinitions(projectId, { source, baseVersion, isDryRun: true }, signal);
    return { source, problems: [], warnings };
  } catch (error) {
    const problems = error instanceof RequestFailed ? (error.details as readonly Problem[]) : [];
    const failure = problems.length === 0 ? { failure: messageOf(error), isRefused: isRefused(error) } : {};
    return { source, problems, warnings: [], ...failure };
  }
}

/** The result of the last check, which may be of an earlier text. */
export function useChecked(projectId: string, source: string, baseVersion: number): Checked | undefined {
  const [checked, setChecked] = useState<Checked>();
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () =>
        void check(projectId, { source, baseVersion }, abort.signal).then((found) => {
          if (!abort.signal.aborted) setChecked(found);
        }),
      PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [projectId, source, baseVersion]);
  return checked;
}
