// The text of a dashboard while it is edited: checked by the service when its author pauses, with
// the cards that forms can change.
import { useEffect, useRef, useState } from 'react';
import { type CardChange, type Draft, editDraft, type Problem } from './api.js';

const PAUSE_MS = 600;

export interface DraftState {
  readonly source: string;
  readonly setSource: (source: string) => void;
  /** Results of the last check of the text. */
  readonly problems: readonly Problem[];
  readonly sections: Draft['sections'];
  /** Whether the problems are those of the present text. */
  readonly isChecked: boolean;
  /** Why the text could not be checked. */
  readonly failure: string | undefined;
  /** Changes or removes a card. Rejects with the reason when the text does not allow it. */
  readonly edit: (edit: { readonly card?: CardChange; readonly remove?: string }) => Promise<void>;
}

export function useDraft(projectId: string, id: string, before: string): DraftState {
  const [source, setSource] = useState(before);
  const [draft, setDraft] = useState<Draft>();
  const [failure, setFailure] = useState<string>();
  const isFirst = useRef(true);
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
        if (!abort.signal.aborted) setFailure(messageOf(error));
      }
    };
    const timer = setTimeout(() => void check(), isFirst.current ? 0 : PAUSE_MS);
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
    isChecked: source === checked,
    edit: async (edit) => {
      const changed = await editDraft(projectId, id, { source, ...edit });
      setDraft(changed);
      setSource(changed.source_yaml);
    },
  };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
