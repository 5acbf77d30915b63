// The text of the definitions while it is edited, checked by the service when its author pauses.
import { useEffect, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isPassing, isRefused, RequestFailed } from '../api/request.js';
import type { Problem } from '../dashboards/api.js';
import { changeDefinitions } from './api.js';

const PAUSE_MS = 600;
const RETRY_MS = 5000;

export interface Checked {
  /** The text that was checked. */
  readonly source: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Why the text could not be checked. */
  readonly failure?: string;
  /** Whether a newer version may be stored. */
  readonly isRefused?: boolean;
  /** Whether the text could not be checked for now. */
  readonly isPassing?: boolean;
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
    const failure =
      problems.length === 0
        ? { failure: messageOf(error), isRefused: isRefused(error), isPassing: isPassing(error) }
        : {};
    return { source, problems, warnings: [], ...failure };
  }
}

/** The result of the last check, which may be of an earlier text. */
export function useChecked(projectId: string, source: string, baseVersion: number): Checked | undefined {
  const [checked, setChecked] = useState<Checked>();
  useEffect(() => {
    const abort = new AbortController();
    const checkText = async (): Promise<void> => {
      const found = await check(projectId, { source, baseVersion }, abort.signal);
      if (abort.signal.aborted) return;
      setChecked(found);
      if (found.isPassing === true) timer = setTimeout(() => void checkText(), RETRY_MS);
    };
    let timer = setTimeout(() => void checkText(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [projectId, source, baseVersion]);
  return checked;
}
