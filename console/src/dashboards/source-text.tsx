// The text of a YAML document while it is edited: numbered lines, and its problems, which lead to
// their places.
import { FixButton } from '../shell/fix-button.js';
import { dashboardsTexts } from '../texts/dashboards.js';
import type { Problem, TextFix } from './api.js';
import style from './dashboards.module.css';
import editing from './editing.module.css';

/** Line and column from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column?: number;
}

/** `length` counts characters; default: 0. */
export function selectPlace(
  field: HTMLTextAreaElement | null,
  { line, column = 1, length = 0 }: TextPlace & { readonly length?: number },
): void {
  if (field === null) return;
  const start =
    field.value
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length + (line > 1 ? 1 : 0);
  const from = start + firstOf(field.value.slice(start), column - 1).length;
  field.focus();
  field.setSelectionRange(from, from + firstOf(field.value.slice(from), length).length);
}

const firstOf = (text: string, characters: number): string => [...text].slice(0, characters).join('');

/** As if it was typed: the browser can undo it. */
export function applyFix(field: HTMLTextAreaElement | null, fix: TextFix): void {
  selectPlace(field, fix);
  document.execCommand(fix.text === '' ? 'delete' : 'insertText', false, fix.text);
}

/** Why the text as a whole was refused. */
export function Failure({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p role="alert" className={style.problem}>
      {text}
    </p>
  );
}

interface ProblemsProps {
  readonly name: string;
  readonly problems: readonly Problem[];
  readonly goTo: (place: TextPlace) => void;
  /** Undefined when the problems are those of an earlier text. */
  readonly fix: ((fix: TextFix) => void) | undefined;
}

export function SourceProblems({ name, problems, goTo, fix: apply }: ProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <div role="alert">
      <ul className={style.problems} aria-label={name}>
        {problems.map(({ fix, ...problem }) => (
          <li key={`${problem.line} ${problem.column} ${problem.message}`}>
            <button type="button" className="button small" onClick={() => goTo(problem)}>
              {dashboardsTexts.line(problem.line)}
            </button>{' '}
            {problem.message} <span className="muted">· {problem.hint}</span>{' '}
            {fix !== undefined && apply !== undefined && <FixButton text={fix.text} apply={() => apply(fix)} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface TextProps {
  readonly name: string;
  readonly source: string;
  readonly setSource: (text: string) => void;
  readonly problems: readonly Problem[];
  readonly field: React.RefObject<HTMLTextAreaElement | null>;
}

export function SourceText({ name, source, setSource, problems, field }: TextProps) {
  const lines = source.split('\n');
  return (
    <div className={`card ${editing.text}`}>
      <div className={editing.numbers} aria-hidden="true">
        {lines.map((_, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are numbered
            key={index}
            data-wrong={problems.some(({ line }) => line === index + 1) || undefined}
          >
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={field}
        className={editing.textarea}
        aria-label={name}
        value={source}
        rows={lines.length + 1}
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        onChange={({ target }) => setSource(target.value)}
      />
    </div>
  );
}
