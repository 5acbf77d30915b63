// The field of the query: a textarea at once, which becomes an editor with completion and problems
// when that has been loaded.
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { namesQuery } from '../api/names.js';
import type { QueryDetail } from '../api/request.js';
import type { Editor } from '../editor/editor.js';
import { hidePlaceholders } from '../editor/placeholders.js';
import type { Problem } from '../language/language.js';
import { Boundary } from '../shell/boundary.js';
import { FOCUS_QUERY } from '../shell/use-shortcuts.js';
import { texts } from '../texts.js';
import { Problems } from './problems.js';
import style from './query-field.module.css';

// It needs the parser, which comes with the editor.
const ChipsBar = lazy(() => import('./chips-bar.js').then((module) => ({ default: module.ChipsBar })));

interface Props {
  readonly projectId: string;
  readonly timezone: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** Sets the text, and runs it. */
  readonly apply: (text: string) => void;
  /** Whether the text may have placeholders of a dashboard. */
  readonly isTemplate?: boolean;
  /** Problems that the service found in the value. */
  readonly rejected: readonly QueryDetail[];
}

export function QueryField({
  projectId,
  timezone,
  value,
  onChange,
  onRun,
  apply,
  rejected,
  isTemplate = false,
}: Props) {
  const host = useRef<HTMLDivElement>(null);
  const textarea = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const { data: names } = useQuery(namesQuery(projectId));
  const now = useRef({ value, onChange, onRun, timezone, isTemplate });
  now.current = { value, onChange, onRun, timezone, isTemplate };

  useEffect(() => {
    let isWanted = true;
    let made: Editor | undefined;
    // Without the file the textarea stays.
    import('../editor/editor.js').then(
      ({ createEditor }) => {
        const [place, field] = [host.current, textarea.current];
        if (!isWanted || place === null) return;
        made = createEditor(place, {
          text: now.current.value,
          selection: field === null ? undefined : [field.selectionStart, field.selectionEnd],
          hasFocus: field !== null && document.activeElement === field,
          timezone: () => now.current.timezone,
          toQuery: (text) => (now.current.isTemplate ? hidePlaceholders(text) : text),
          // At once, as React does it for a textarea. A later render for an earlier text would undo
          // what was typed since.
          onChange: (text) => {
            // Keys that the editor handles itself, such as Backspace, are no input to the browser.
            place.dispatchEvent(new Event('input', { bubbles: true }));
            flushSync(() => now.current.onChange(text));
          },
          onRun: () => now.current.onRun(),
          onProblems: setProblems,
        });
        setEditor(made);
        // Before the first word is typed.
        import('./chips-bar.js').catch(() => {});
      },
      () => {},
    );
    return () => {
      isWanted = false;
      made?.destroy();
    };
  }, []);

  useEffect(() => editor?.setText(value), [editor, value]);
  useEffect(() => editor?.setNames(names), [editor, names]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the zone decides what a time means
  useEffect(() => editor?.checkAgain(), [editor, timezone]);
  useEffect(() => {
    const focus = (): void => (editor === undefined ? textarea.current?.focus() : editor.focus());
    window.addEventListener(FOCUS_QUERY, focus);
    return () => window.removeEventListener(FOCUS_QUERY, focus);
  }, [editor]);

  const hasPlaceholders = isTemplate && value.includes('{{');
  return (
    <>
      <div ref={host} className={style.host} hidden={editor === undefined} />
      {editor === undefined && (
        <textarea
          ref={textarea}
          className={style.textarea}
          aria-label={texts.ask.query}
          placeholder={texts.ask.placeholder}
          value={value}
          rows={Math.max(2, value.split('\n').length)}
          spellCheck={false}
          autoCapitalize="off"
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onRun();
          }}
        />
      )}
      {editor !== undefined && problems.length === 0 && value.trim() !== '' && !hasPlaceholders && (
        <Boundary part="chips" of={editor}>
          <Suspense fallback={null}>
            <ChipsBar projectId={projectId} text={value} names={names} apply={apply} edit={editor.select} />
          </Suspense>
        </Boundary>
      )}
      <Problems
        problems={editor === undefined ? [] : problems}
        rejected={problems.length === 0 ? rejected : []}
        replace={(span, text) => editor?.replace(span, text)}
      />
    </>
  );
}
