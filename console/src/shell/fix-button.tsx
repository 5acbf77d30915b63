// The button beside a problem of a text that applies its fix.
import { texts } from '../texts.js';

interface Props {
  /** What the fix puts in place of the wrong piece; blank when it removes it. */
  readonly text: string;
  readonly apply: () => void;
}

export function FixButton({ text, apply }: Props) {
  const shown = text.trim();
  return (
    <button type="button" className="button small" onClick={apply}>
      {shown === '' ? texts.ask.repair : texts.ask.replace(shown)}
    </button>
  );
}
