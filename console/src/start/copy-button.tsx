// Copies a text, and says so for a moment.
import { startTexts } from '../texts/start.js';
import { CopyLabel } from './copy-label.js';
import { useCopy } from './use-copy.js';

interface Props {
  readonly name: string;
  readonly text: string;
  readonly className?: string | undefined;
}

export function CopyButton({ name, text, className = '' }: Props) {
  const [note, copy] = useCopy(text);
  return (
    <button
      type="button"
      className={`button small ${className}`}
      aria-label={`${startTexts.copy}: ${name}`}
      onClick={() => void copy()}
    >
      <CopyLabel label={startTexts.copy} note={note} />
    </button>
  );
}
