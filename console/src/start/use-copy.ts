// Copies a text, with a note for the button that says for a moment whether it was copied.
import { useRef, useState } from 'react';
import { texts } from '../texts.js';

const SHOWN_MS = 2000;

export function useCopy(text: string): readonly [note: string | undefined, copy: () => Promise<void>] {
  const [note, setNote] = useState<string>();
  const timer = useRef(0);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setNote(texts.ask.copied);
    } catch {
      setNote(texts.ask.copyFailed);
    }
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setNote(undefined), SHOWN_MS);
  };
  return [note, copy];
}
