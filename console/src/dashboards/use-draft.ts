// The text of a dashboard while it is edited: checked by the service when its author pauses, with
// the sections, cards and variables that forms can change.
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isPassing } from '../api/request.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import { type Draft, type Edit, editDraft, type Problem } from './api.js';
import type { KeptText } from './kept-text.js';

const PAUSE_MS = 600;
const RETRY_MS = 5000;

export interface DraftState {
  readonly source: string;
  readonly setSource: (source: string) => void;
  /** Results of the last check of the text. */
  readonly problems: readonly Problem[];
  readonly sections: Draft['sections'];
  readonly variables: Draft['variables'];
  /** Whether the text has been checked at least once, or could not be. */
  readonly isRead: boolean;
  /** Whether the problems are those of the present text. */
  readonly isChecked: boolean;
  /** Why the text could not be checked. */
  readonly failure: string | undefined;
  /** Rejects with the reason when the text does not allow the change. */
  readonly edit: (edit: Edit) => Promise<void>;
}

export function useDraft(projectId: string, id: string, { text: source, setText: setSource }: KeptText): DraftState {
  const [draft, setDraft] = useState<Draft>();
  const [failure, setFailure] = useState<string>();
  const isFirst = useRef(true);
  const latest = useRef(source);
  latest.current = source;
  const checked = draft?.source_yaml;
  useEffect(() => {
    if (source === checked) return;
    const abort = new AbortController();
    const check = async (): Promise<void> => {
      try {
        const found = await editDraft(projectId, id, { source }, abort.signal);
        setDraft(found);
        setFailure(undefined);
      } catch (error) {
        if (abort.signal.aborted) return;
        setFailure(messageOf(error));
        if (isPassing(error)) timer = setTimeout(() => void check(), RETRY_MS);
      }
    };
    let timer = setTimeout(() => void check(), isFirst.current ? 0 : PAUSE_MS);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [projectId, id, source, checked]);
  return {
    ...{ source, setSource, failure },
    problems: draft?.problems ?? [],
    sections: draft?.sections ?? [],
    variables: draft?.variables ?? [],
    isRead: draft !== undefined || failure !== undefined,
    isChecked: source === checked,
    edit: async (edit) => {
      const changed = await editDraft(projectId, id, { source, ...edit });
      if (latest.current !== source) throw new Error(dashboardsTexts.form.changedMeanwhile);
      setDraft(changed);
      setFailure(undefined);
      setSource(changed.source_yaml);
    },
  };
}
