// Copies a text, and says so for a moment.
import { useState } from 'react';
import { startTexts } from '../texts/start.js';
import { texts } from '../texts.js';

const SHOWN_MS = 2000;

interface Props {
  readonly name: string;
  readonly text: string;
  readonly className?: string | undefined;
}

export function CopyButton({ name, text, className = '' }: Props) {
  const [note, setNote] = useState<string>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setNote(texts.ask.copied);
    } catch {
      setNote(texts.ask.copyFailed);
    }
    setTimeout(() => setNote(undefined), SHOWN_MS);
  };
  return (
    <button
      type="button"
      className={`button small ${className}`}
      aria-label={`${startTexts.copy}: ${name}`}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{note ?? startTexts.copy}</span>
    </button>
  );
}
