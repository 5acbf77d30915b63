// The label of a button that copies. The button keeps its width while it says that it did.
import { texts } from '../texts.js';
import style from './start.module.css';

interface Props {
  readonly label: string;
  /** What happened, for a moment. */
  readonly note: string | undefined;
}

export function CopyLabel({ label, note }: Props) {
  return (
    <span className={style.copyLabel} data-note={texts.ask.copied}>
      <span className={note === undefined ? undefined : style.unseen}>{label}</span>
      <span aria-live="polite">{note}</span>
    </span>
  );
}
