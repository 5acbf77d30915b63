// Problems of the query below its text, each with its repair where the compiler knows one.
import type { QueryDetail } from '../api/request.js';
import type { Problem } from '../language/language.js';
import { FixButton } from '../shell/fix-button.js';
import { texts } from '../texts.js';
import style from './query-field.module.css';

interface Props {
  readonly problems: readonly Problem[];
  /** What the service found, when the browser's own check found nothing. */
  readonly rejected: readonly QueryDetail[];
  readonly replace: (span: Problem['span'], text: string) => void;
}

const SHOWN_MAX = 5;

export function Problems({ problems, rejected, replace }: Props) {
  const all: readonly (Omit<Problem, 'span'> & { readonly span?: Problem['span'] })[] = [
    ...problems,
    ...rejected.map(({ message, hint }) => ({ message, hint })),
  ];
  return (
    <ul className={style.problems} aria-label={texts.ask.problems} aria-live="polite" hidden={all.length === 0}>
      {all.slice(0, SHOWN_MAX).map(({ message, hint, span, fix }) => (
        <li key={`${message} ${span?.from}`} className={style.problem}>
          <span>
            {message} <span className={style.hint}>· {hint}</span>
          </span>
          {fix !== undefined && <FixButton text={fix.text} apply={() => replace(fix.span, fix.text)} />}
        </li>
      ))}
    </ul>
  );
}
